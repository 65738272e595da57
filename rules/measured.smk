# Helpers of claims and the report: all that a study measured, and all that it shows.
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
        claims=[{"id": name, **claim} for name, claim in claims.items()],
    )


def get_report_tables():
    """Return the tables of the study that the report shows, by what is made of each."""
    shown = [
        rules.table_1,
        rules.table_2,
        rules.table_3,
        rules.table_4,
        rules.table_filters,
    ]
    return {
        kind: [getattr(rule.output, kind) for rule in shown]
        for kind in ("table", "manifest")
    }


def get_report_figures():
    """Return the figures of the study that the report shows, by what is made of each."""
    shown = [rules.figure_1, rules.figure_3, rules.figure_4, rules.figure_5]
    return {
        kind: [getattr(rule.output, kind) for rule in shown]
        for kind in ("svg", "table", "manifest")
    }


def get_report_hash():
    """Return the hash of what the report is made with, beside code: no input files."""
    root = Path(workflow.basedir)
    made_with = [
        root / "poolbias" / "report" / "templates",
        root / "docs" / "differences.md",
    ]
    return hash_of([sha256_of(path) for path in made_with], 16)
