# Claims: each a number with its interval, and a verdict.
from poolbias.config.claims import read_claims
from poolbias.evaluation.listing import pack


def get_selections():
    """Return the metrics of selection models that are measured as rankers.

    They are those of the rows alike to the first of each collection.
    """
    references = {}
    for row in ROWS:
        references.setdefault(row.experiment.collection, row)
    rows = [
        row
        for reference in references.values()
        for (_, label), row in get_alike(reference).items()
        if label in STUDY.evaluation.selection_models
    ]
    return [
        {
            **system,
            "method": f"{system['method']} (S)",
            "name": "cet_selection",
            "path": re.sub(r"(/seed-\d+/)", r"\1S/", system["path"], count=1),
        }
        for system in get_systems(rows)
    ]


def get_shares():
    """Return the counts of false negatives among the candidates of each run, by pool."""
    runs = dict.fromkeys(
        (get_collection_key(row.experiment), row.experiment.pool, row.retriever)
        for row in ROWS
    )
    return [
        {
            "experiment": "run",
            "collection": collection,
            "pool": pool,
            "retriever": retriever,
            "method": "candidates",
            "name": "candidates",
            "ranker": "-",
            "seed": 0,
            "judgements": "truth",
            "path": get_result(
                f"results/metrics/runs/{collection}/{get_retriever_key(retriever)}/"
                f"train.false-negatives-{naming.pool_key(STUDY, pool)}{DEPTHS}.tsv"
            ),
        }
        for collection, pool, retriever in runs
    ]


def get_measured():
    """Return all that was measured in the study, each with the path of its per-query file."""
    return [*get_baselines(), *get_rankings(), *get_selections(), *get_shares()]


def get_claims_json(wildcards):
    """Return the parameters of the claims; their file is read when the job is planned."""
    try:
        claims = read_claims(Path(workflow.basedir) / "config" / "claims.yaml")
    except PoolbiasError as error:
        raise WorkflowError(str(error)) from None
    return get_stage_json(
        "claims",
        study=STUDY.study,
        collections=get_collection_keys(),
        about=get_collection_key(get_reference().experiment),
        recall=f"R@{STUDY.figures.figure_1.recall_cut}",
        changed={row.experiment.name: get_changed(row) for row in ROWS},
        chosen=get_chosen(),
        pools={name: pool.retrievers for name, pool in STUDY.pools.items()},
        systems=pack(get_measured()),
        claims=claims,
    )


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
