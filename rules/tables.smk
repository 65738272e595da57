# Tables: made from per-query metrics and the queries' groups alone.
from poolbias.evaluation.listing import pack

TABLES_COMMAND = (
    '--paper-tables "$POOLBIAS_ROOT"/config/paper_tables.tsv --queries {input.queries} '
    "--markdown {output.markdown} --latex {output.latex} --table {output.table} "
    "--manifest {output.manifest}"
)


rule table_1:
    """Table 1: methods by labels and by truth, CET tested against DML and RANCE."""
    input:
        **get_table_inputs("table_1"),
    output:
        markdown=f"results/{STUDY.study}/tables/table_1.md",
        latex=f"results/{STUDY.study}/tables/table_1.tex",
        table=f"results/{STUDY.study}/tables/table_1.tsv",
        manifest=f"results/{STUDY.study}/tables/table_1.manifest.json",
    log:
        text=f"results/logs/table_1/{STUDY.study}.log",
        parameters=f"results/logs/table_1/{STUDY.study}.json",
    benchmark:
        f"results/benchmarks/table_1/{STUDY.study}.tsv"
    conda:
        "../workflow/envs/poolbias.yaml"
    threads: 1
    resources:
        mem_mb=get_growing(2000),
        runtime=get_growing(10),
        cpus_per_task=1,
    params:
        json=lambda wildcards: get_table_json("table_1"),
        paper_tables_hash=get_paper_tables_hash(),
    message:
        "Make Table 1"
    shell:
        get_command("table_1") + TABLES_COMMAND


rule table_2:
    """Table 2: recall of the runs by labels and by truth."""
    input:
        **get_table_inputs("table_2"),
    output:
        markdown=f"results/{STUDY.study}/tables/table_2.md",
        latex=f"results/{STUDY.study}/tables/table_2.tex",
        table=f"results/{STUDY.study}/tables/table_2.tsv",
        manifest=f"results/{STUDY.study}/tables/table_2.manifest.json",
    log:
        text=f"results/logs/table_2/{STUDY.study}.log",
        parameters=f"results/logs/table_2/{STUDY.study}.json",
    benchmark:
        f"results/benchmarks/table_2/{STUDY.study}.tsv"
    conda:
        "../workflow/envs/poolbias.yaml"
    threads: 1
    resources:
        mem_mb=get_growing(2000),
        runtime=get_growing(10),
        cpus_per_task=1,
    params:
        json=lambda wildcards: get_table_json(
            "table_2",
            **(
                {"cuts": STUDY.tables.recall_cuts}
                if STUDY.tables.recall_cuts
                else {"cut": STUDY.figures.figure_1.recall_cut}
            ),
        ),
        paper_tables_hash=get_paper_tables_hash(),
    message:
        "Make Table 2"
    shell:
        get_command("table_2") + TABLES_COMMAND


rule table_3:
    """Table 3: the shape of the paper's table on DuReader, CET tested against RocketQA."""
    input:
        **get_table_inputs("table_3"),
    output:
        markdown=f"results/{STUDY.study}/tables/table_3.md",
        latex=f"results/{STUDY.study}/tables/table_3.tex",
        table=f"results/{STUDY.study}/tables/table_3.tsv",
        manifest=f"results/{STUDY.study}/tables/table_3.manifest.json",
    log:
        text=f"results/logs/table_3/{STUDY.study}.log",
        parameters=f"results/logs/table_3/{STUDY.study}.json",
    benchmark:
        f"results/benchmarks/table_3/{STUDY.study}.tsv"
    conda:
        "../workflow/envs/poolbias.yaml"
    threads: 1
    resources:
        mem_mb=get_growing(2000),
        runtime=get_growing(10),
        cpus_per_task=1,
    params:
        json=lambda wildcards: get_table_json("table_3"),
        paper_tables_hash=get_paper_tables_hash(),
    message:
        "Make Table 3"
    shell:
        get_command("table_3") + TABLES_COMMAND


rule table_4:
    """Table 4: rankers without and with CET."""
    input:
        **get_table_inputs("table_4"),
    output:
        markdown=f"results/{STUDY.study}/tables/table_4.md",
        latex=f"results/{STUDY.study}/tables/table_4.tex",
        table=f"results/{STUDY.study}/tables/table_4.tsv",
        manifest=f"results/{STUDY.study}/tables/table_4.manifest.json",
    log:
        text=f"results/logs/table_4/{STUDY.study}.log",
        parameters=f"results/logs/table_4/{STUDY.study}.json",
    benchmark:
        f"results/benchmarks/table_4/{STUDY.study}.tsv"
    conda:
        "../workflow/envs/poolbias.yaml"
    threads: 1
    resources:
        mem_mb=get_growing(2000),
        runtime=get_growing(10),
        cpus_per_task=1,
    params:
        json=lambda wildcards: get_table_json("table_4", rankers=get_missing_rankers()),
        paper_tables_hash=get_paper_tables_hash(),
    message:
        "Make Table 4"
    shell:
        get_command("table_4") + TABLES_COMMAND
