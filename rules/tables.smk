# Tables: made from per-query metrics and the queries' groups alone.
from poolbias.evaluation.listing import pack


def get_table_systems(table):
    """Return the systems that a table shows, each with the path of its metrics.

    Tables of methods are about the ranker of the study's first experiment.
    """
    first = ROWS[0].experiment.ranker
    chosen = {
        "table_1": lambda row: row.experiment.ranker == first,
        "table_3": lambda row: row.experiment.ranker == first
        and row.method in table_rows.TABLE_3,
        "table_4": lambda row: row.method in (table_rows.NAIVE, table_rows.CET),
    }
    return get_baselines() if table == "table_2" else get_rankings(chosen[table])


def get_table_inputs(table):
    """Return the input files of a table."""
    return {
        "queries": [
            f"results/collections/{key}/queries.tsv" for key in get_collection_keys()
        ],
        "per_query": [system["path"] for system in get_table_systems(table)],
    }


def get_table_json(table, **parameters):
    """Return the parameters of a table, some of its own among them."""
    used = dict.fromkeys(row.retriever for row in ROWS)
    return get_stage_json(
        table,
        study=STUDY.study,
        split=SPLIT,
        ranker=ROWS[0].experiment.ranker,
        lexical=[name for name in used if STUDY.retrievers[name].kind == "bm25"],
        reason=get_not_run_reason(),
        collections=get_collection_keys(),
        changed={
            row.experiment.name: changed
            for row in ROWS
            if (changed := get_changed(row))
        },
        chosen=get_chosen(),
        systems=pack(get_table_systems(table)),
        **parameters,
    )


def get_not_run_reason():
    """Return why a row that the study does not hold was not run: another study holds it, or none."""
    return STUDY.tables.elsewhere or "not in this study"


def get_missing_rankers():
    """Return the paper's rankers, and for each why it is not run where the study lacks it."""
    return {
        name: reason or get_not_run_reason()
        for name, reason in table_rows.RANKERS.items()
    }


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
            "table_2", cut=STUDY.figures.figure_1.recall_cut
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
