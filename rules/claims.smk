# Claims: each a number with its interval, and a verdict.


rule claims:
    """Every claim of config/claims.yaml with its numbers and its verdict."""
    input:
        queries=get_queries(get_collection_keys()),
        per_query=[system["path"] for system in get_measured()],
        tables=[rules.figure_4.output.table, rules.figure_5.output.table],
    output:
        table=f"results/{STUDY.study}/claims.tsv",
        markdown=f"results/{STUDY.study}/claims.md",
        manifest=f"results/{STUDY.study}/claims.manifest.json",
    log:
        text=f"results/logs/claims/{STUDY.study}.log",
        parameters=f"results/logs/claims/{STUDY.study}.json",
    benchmark:
        f"results/benchmarks/claims/{STUDY.study}.tsv"
    conda:
        "../workflow/envs/poolbias.yaml"
    threads: 1
    resources:
        mem_mb=get_growing(2000),
        runtime=get_growing(30),
        cpus_per_task=1,
    params:
        json=get_claims_json,
        paper_tables_hash=get_paper_tables_hash(),
    message:
        "Hold the study against the claims"
    shell:
        get_command("claims")
        + '--paper-tables "$POOLBIAS_ROOT"/config/paper_tables.tsv '
        "--queries {input.queries} --tables {input.tables} "
        "--table {output.table} --markdown {output.markdown} --manifest {output.manifest}"
