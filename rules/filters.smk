# The table of filters: made from the counts beside the candidates tables alone.


rule table_filters:
    """Filters: candidates kept and removed, precision and recall at finding false negatives."""
    input:
        queries=get_queries(get_collection_keys()),
        counts=[row["path"] for row in get_filters()],
    output:
        markdown=f"results/{STUDY.study}/tables/table_filters.md",
        latex=f"results/{STUDY.study}/tables/table_filters.tex",
        table=f"results/{STUDY.study}/tables/table_filters.tsv",
        manifest=f"results/{STUDY.study}/tables/table_filters.manifest.json",
    log:
        text=f"results/logs/table_filters/{STUDY.study}.log",
        parameters=f"results/logs/table_filters/{STUDY.study}.json",
    benchmark:
        f"results/benchmarks/table_filters/{STUDY.study}.tsv"
    conda:
        "../workflow/envs/poolbias.yaml"
    threads: 1
    resources:
        mem_mb=get_growing(2000),
        runtime=get_growing(10),
        cpus_per_task=1,
    params:
        json=lambda wildcards: get_filters_json(),
    message:
        "Make the table of filters"
    shell:
        get_command("table_filters")
        + "--queries {input.queries} --counts {input.counts} --markdown {output.markdown} "
        "--latex {output.latex} --table {output.table} --manifest {output.manifest}"
