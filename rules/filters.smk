# The table of filters: made from the counts beside the candidates tables alone.


def get_filters():
    """Return the candidates tables of the study's rows: what made each, and its counts' path."""
    found = {}
    for row in ROWS:
        for experiment in row.experiment.halves or (row.experiment,):
            key = naming.candidates_key(STUDY, experiment)
            about = found.setdefault(
                key,
                {
                    "collection": get_collection_key(experiment),
                    "pool": experiment.pool,
                    "retriever": experiment.retriever,
                    "name": experiment.method,
                    "method": experiment.label,
                    "shared": [],
                    "path": get_result(f"results/metrics/candidates/{key}.tsv"),
                },
            )
            if row.method not in about["shared"]:
                about["shared"].append(row.method)
    return list(found.values())


def get_filters_json():
    """Return the parameters of the table of filters."""
    used = dict.fromkeys(row.retriever for row in ROWS)
    return get_stage_json(
        "table_filters",
        study=STUDY.study,
        lexical=[name for name in used if STUDY.retrievers[name].kind == "bm25"],
        reason=get_not_run_reason(),
        collections=get_collection_keys(),
        filters=get_without_path(get_filters()),
    )


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
        json=get_filters_json(),
    message:
        "Make the table of filters"
    shell:
        get_command("table_filters")
        + "--queries {input.queries} --counts {input.counts} --markdown {output.markdown} "
        "--latex {output.latex} --table {output.table} --manifest {output.manifest}"
