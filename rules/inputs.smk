# Helpers of the rules that bring many results together: which files, and what each is of.
from poolbias.evaluation.listing import pack

MEASURES = get_measures_mark(STUDY.evaluation.measures)
DEPTHS = get_measures_mark(STUDY.figures.figure_1.shares_depths)


def get_ranked_pattern():
    """Return a regular expression for the folders of this study's runs and rankings."""
    collections, retrievers = get_pattern(COLLECTIONS), get_pattern(RETRIEVERS)
    rankings = rf"rankings/({get_pattern(RANKED)})/seed-\d+/(S/)?({retrievers})/top-\d+"
    return rf"(runs/({collections})/({retrievers})|{rankings})"


def get_judgements_pattern():
    """Return a regular expression for what runs are measured by, with the mark of a set."""
    kinds = ["truth", *(f"labels-{pool}" for pool in POOLS)]
    marks = dict.fromkeys(
        mark for c in STUDY.collections for mark in get_sets(c).values()
    )
    return get_pattern(
        [f"{kind}{mark}" for kind in kinds for mark in ["", *filter(None, marks)]]
    )


def get_ranker_name(row):
    """Return what tables call the ranker of a row."""
    return STUDY.rankers[row.experiment.ranker].shown or row.experiment.ranker


def get_set(wildcards):
    """Return the set of queries that a file of measures is about, if it is not all of a split."""
    kind = wildcards.judgements.partition(".")[2]
    return {"kind": kind} if kind else {}


def get_queries(collections):
    """Return the queries of collections, given by their names in tables."""
    return [f"results/collections/{FOLDERS[name]}/queries.tsv" for name in collections]


def get_rankings(chosen=lambda row: True):
    """Return the systems of the study's rows: what each is, and the path of its metrics."""
    return [
        {
            "experiment": row.experiment.name,
            "collection": collection,
            "pool": row.experiment.pool,
            "retriever": row.retriever,
            "method": row.label,
            "name": row.method,
            "ranker": get_ranker_name(row),
            "seed": seed,
            "judgements": judgements,
            "path": get_result(
                f"results/metrics/rankings/{row.experiment.name}/seed-{seed}/"
                f"{get_retriever_key(row.retriever)}/top-{get_depth(row.experiment.collection)}/"
                f"{SPLIT}.{file}{mark}{MEASURES}.tsv"
            ),
        }
        for row in ROWS
        if chosen(row)
        for collection, mark in get_sets(row.experiment.collection).items()
        for seed in STUDY.seeds
        for judgements, file in get_judgement_files(row.experiment.pool)
    ]


def get_without_path(systems):
    """Return what systems are, as a stage's parameters tell it beside the paths."""
    return [
        {name: value for name, value in system.items() if name != "path"}
        for system in systems
    ]


def get_judgement_files(pool):
    """Return (judgements, part of a metrics file's name) for the truth and a pool's labels."""
    return [("truth", "truth"), ("labels", f"labels-{naming.pool_key(STUDY, pool)}")]


def get_baselines():
    """Return the metrics of the runs that rankings re-order, as they are."""
    runs = dict.fromkeys(
        (row.experiment.collection, row.experiment.pool, row.retriever) for row in ROWS
    )
    return [
        {
            "experiment": "run",
            "collection": name,
            "pool": pool,
            "retriever": retriever,
            "method": "run",
            "name": "run",
            "ranker": "-",
            "seed": 0,
            "judgements": judgements,
            "path": get_result(
                f"results/metrics/runs/{naming.folder(STUDY.collections[collection])}/"
                f"{get_retriever_key(retriever)}/{SPLIT}.{file}{mark}{MEASURES}.tsv"
            ),
        }
        for collection, pool, retriever in runs
        for name, mark in get_sets(collection).items()
        for judgements, file in get_judgement_files(pool)
    ]


def get_summary_json():
    """Return what each per-query file of the summary is of, runs before rankings."""
    systems = pack([*get_baselines(), *get_rankings()])
    return get_stage_json(
        "summarise_metrics", collections=get_collection_keys(), systems=systems
    )


def get_collection_keys():
    """Return the names in tables of the collections that experiments use."""
    used = dict.fromkeys(row.experiment.collection for row in ROWS)
    return [name for collection in used for name in get_sets(collection)]


def get_figure_1_rows():
    """Return the files of Figure 1 by kind, each with what it is of.

    Figure 1 is about the collection, pool and ranker of the study's first experiment, and of
    several naive rankers on one retriever about the first.
    """
    first = ROWS[0].experiment
    collection = get_collection_key(first)
    about, mark = get_first_set(first.collection)
    retrievers = STUDY.figures.figure_1.retrievers
    runs = f"results/metrics/runs/{collection}"
    recall = [
        {
            "retriever": retriever,
            "judgements": judgements,
            "path": get_result(
                f"{runs}/{get_retriever_key(retriever)}/{SPLIT}.{file}{mark}{MEASURES}.tsv"
            ),
        }
        for retriever in retrievers
        for judgements, file in get_judgement_files(first.pool)
    ]
    pool = naming.pool_key(STUDY, first.pool)
    shares = [
        {
            "retriever": retriever,
            "path": get_result(
                f"{runs}/{get_retriever_key(retriever)}/train.false-negatives-{pool}{DEPTHS}.tsv"
            ),
        }
        for retriever in retrievers
        if get_knows_truth(first.collection)
    ]
    naive = {}
    for row in ROWS:
        e = row.experiment
        alike = (e.collection, e.pool, e.ranker) == (
            first.collection,
            first.pool,
            first.ranker,
        )
        if row.method == "naive" and row.retriever in retrievers and alike:
            naive.setdefault(row.retriever, e.name)
    rankings = [
        {name: row[name] for name in ("retriever", "judgements", "seed", "path")}
        for row in get_rankings(
            lambda row: row.method == "naive" and row.experiment.name in naive.values()
        )
        if row["collection"] == about
    ]
    return {"recall": recall, "rankings": rankings, "shares": shares}


def get_figure_1_inputs():
    """Return the input files of Figure 1."""
    collection = get_collection_key(ROWS[0].experiment)
    files = {
        kind: [row["path"] for row in rows]
        for kind, rows in get_figure_1_rows().items()
    }
    return {"queries": f"results/collections/{collection}/queries.tsv", **files}


def get_figure_1_json():
    """Return the parameters of Figure 1."""
    rows = {kind: get_without_path(rows) for kind, rows in get_figure_1_rows().items()}
    return get_stage_json(
        "figure_1",
        retrievers=STUDY.figures.figure_1.retrievers,
        cut=STUDY.figures.figure_1.recall_cut,
        measure="RR@10",
        collection=get_first_set(ROWS[0].experiment.collection)[0],
        **rows,
    )
