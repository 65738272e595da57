# Helpers of the rules: the study, its keys, and the parameters that each stage gets as JSON.
import json
import re
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError

sys.path.insert(0, str(workflow.basedir))

from poolbias.config import experiments as naming  # noqa: E402
from poolbias.config.load import load  # noqa: E402
from poolbias.errors import PoolbiasError  # noqa: E402
from poolbias.environment import prepare  # noqa: E402
from poolbias.files import sha256_of  # noqa: E402

prepare(Path(workflow.basedir))


def get_study():
    """Return the checked study: the one --configfile, or config/config.yaml; never both."""
    files = [str(path) for path in workflow.overwrite_configfiles]
    if len(files) > 1:
        raise WorkflowError(
            f"--configfile: found {len(files)} files ({', '.join(files)}), need one, since a study "
            "file is complete by itself; targets go before --configfile."
        )
    path = files[0] if files else str(Path(workflow.basedir) / "config" / "config.yaml")
    overrides = dict(workflow.config_settings.config or {})
    try:
        study = load(path, overrides)
        return study, {
            experiment.name: experiment for experiment in naming.expand(study)
        }
    except PoolbiasError as error:
        raise WorkflowError(str(error)) from None


STUDY, EXPERIMENTS = get_study()
SPLIT = STUDY.evaluation.split
COLLECTIONS = {naming.key(name, c): c for name, c in STUDY.collections.items()}
RETRIEVERS = {naming.key(name, r): r for name, r in STUDY.retrievers.items()}
POOLS = {naming.pool_key(STUDY, name): pool for name, pool in STUDY.pools.items()}
CANDIDATES = {naming.candidates_key(STUDY, e): e for e in EXPERIMENTS.values()}


def get_command(script):
    """Return how a shell command starts: the parameters as a file, then the stage's script."""
    return (
        "printf '%s\\n' {params.json:q} > {log.parameters} && "
        f'python "$POOLBIAS_SCRIPTS"/{script}.py '
        "--parameters {log.parameters} --log {log.text} "
    )


def get_pattern(names):
    """Return a regular expression that matches exactly these names."""
    return "|".join(re.escape(name) for name in names) or "(?!)"


def get_json(**parameters):
    """Return a stage's parameters as one line of JSON."""
    return json.dumps(parameters, sort_keys=True, allow_nan=False)


def get_collection_key(experiment):
    """Return the folder's name of an experiment's collection."""
    return naming.key(experiment.collection, STUDY.collections[experiment.collection])


def get_retriever_key(name):
    """Return the folder's name of a retriever of this study."""
    return naming.key(name, STUDY.retrievers[name])


def get_searched_documents(wildcards):
    """Return the texts that a retriever searches."""
    retriever = RETRIEVERS[wildcards.retriever]
    name = getattr(retriever, "documents", "documents")
    return f"results/collections/{wildcards.collection}/{name}.tsv"


def get_pool_runs(wildcards):
    """Return the runs whose top results the annotators of a pool see, all splits."""
    keys = [get_retriever_key(name) for name in POOLS[wildcards.pool].retrievers]
    return expand(
        "results/runs/{collection}/{retriever}/{split}.run.gz",
        collection=wildcards.collection,
        retriever=keys,
        split=["train", "dev", "test"],
    )


def get_candidates_inputs(wildcards):
    """Return what a candidates table is made from."""
    experiment = CANDIDATES[wildcards.candidates]
    collection = f"results/collections/{get_collection_key(experiment)}"
    retriever = get_retriever_key(experiment.retriever)
    pool = naming.pool_key(STUDY, experiment.pool)
    return {
        "queries": f"{collection}/queries.tsv",
        "documents": f"{collection}/documents.tsv",
        "truth": f"{collection}/truth.qrels",
        "labels": f"{collection}/pools/{pool}/labels.qrels",
        "run": f"results/runs/{get_collection_key(experiment)}/{retriever}/train.run.gz",
    }


def get_tokens(experiment):
    """Return the token store that an experiment's ranker reads."""
    start = experiment.parameters["ranker"]["start"]
    return f"results/tokens/{get_collection_key(experiment)}/{start}"


def get_training_inputs(wildcards):
    """Return the token store and the candidates of an experiment."""
    experiment = EXPERIMENTS[wildcards.experiment]
    return {
        "tokens": get_tokens(experiment),
        "candidates": f"results/candidates/{naming.candidates_key(STUDY, experiment)}",
    }


def get_limits(experiment):
    """Return how long an experiment's sequences may be."""
    ranker = experiment.parameters["ranker"]
    return {
        name: ranker[f"{name}_tokens"] for name in ("query", "document", "sequence")
    }


def get_training_json(wildcards):
    """Return the parameters of one training."""
    experiment = EXPERIMENTS[wildcards.experiment]
    names = ("ranker", "training", "loss", "weight", "device", "precision", "threads")
    return get_json(
        seed=int(wildcards.seed),
        limits=get_limits(experiment),
        **{name: experiment.parameters[name] for name in names},
    )


def get_rerank_inputs(wildcards):
    """Return what re-ranking a run with a trained ranker reads."""
    experiment = EXPERIMENTS[wildcards.experiment]
    collection = get_collection_key(experiment)
    return {
        "ranker": f"results/rankers/{wildcards.experiment}/seed-{wildcards.seed}/R/model.safetensors",
        "run": f"results/runs/{collection}/{wildcards.retriever}/{wildcards.split}.run.gz",
        "queries": f"results/collections/{collection}/queries.tsv",
        "documents": f"results/collections/{collection}/documents.tsv",
        "tokens": get_tokens(experiment),
    }


def get_rerank_json(wildcards):
    """Return the parameters of re-ranking."""
    experiment = EXPERIMENTS[wildcards.experiment]
    return get_json(
        depth=int(wildcards.depth),
        limits=get_limits(experiment),
        tag=wildcards.experiment,
        **{
            name: experiment.parameters[name]
            for name in ("device", "precision", "threads")
        },
    )


def get_judgements(wildcards):
    """Return the queries of a run or ranking, and the qrels that it is measured against."""
    kind, name = wildcards.ranked.split("/")[:2]
    collection = name if kind == "runs" else get_collection_key(EXPERIMENTS[name])
    folder = f"results/collections/{collection}"
    pool = wildcards.judgements.removeprefix("labels-")
    judgements = "truth.qrels" if pool == "truth" else f"pools/{pool}/labels.qrels"
    return {"queries": f"{folder}/queries.tsv", "judgements": f"{folder}/{judgements}"}


def get_evaluation_json(wildcards):
    """Return the measures of a run or ranking; Figure 1's recall is always among them."""
    recall = f"R@{STUDY.figures.figure_1.recall_cut}"
    measures = list(dict.fromkeys([*STUDY.evaluation.measures, recall]))
    return get_json(split=wildcards.split, measures=measures)


def get_gpus():
    """Return how many GPUs a job that runs a model asks for."""
    return int(STUDY.device == "cuda")


def get_rankings(chosen=lambda experiment: True):
    """Return the metrics of each experiment's re-ranking of its own retriever's run."""
    return [
        {
            "experiment": experiment,
            "seed": seed,
            "judgements": judgements,
            "path": f"results/metrics/rankings/{experiment.name}/seed-{seed}/"
            f"{get_retriever_key(experiment.retriever)}/top-{STUDY.evaluation.depth}/"
            f"{SPLIT}.{file}.tsv",
        }
        for experiment in EXPERIMENTS.values()
        if chosen(experiment)
        for seed in STUDY.seeds
        for judgements, file in get_judgement_files(experiment.pool)
    ]


def get_judgement_files(pool):
    """Return (judgements, part of a metrics file's name) for the truth and a pool's labels."""
    return [("truth", "truth"), ("labels", f"labels-{naming.pool_key(STUDY, pool)}")]


def get_summary_json():
    """Return what each per-query file of the summary is of."""
    rows = [
        {
            "experiment": row["experiment"].name,
            "collection": get_collection_key(row["experiment"]),
            "pool": row["experiment"].pool,
            "retriever": row["experiment"].retriever,
            "method": row["experiment"].label,
            "ranker": row["experiment"].ranker,
            "seed": row["seed"],
            "judgements": row["judgements"],
        }
        for row in get_rankings()
    ]
    return get_json(rows=rows)


def get_collection_keys():
    """Return the folders' names of the collections that experiments use."""
    return list(dict.fromkeys(get_collection_key(e) for e in EXPERIMENTS.values()))


def get_figure_1_rows():
    """Return the files of Figure 1 by kind, each with what it is of.

    Figure 1 is about the study's first collection, its first pool and its first ranker.
    """
    first = next(iter(EXPERIMENTS.values()))
    collection = get_collection_key(first)
    retrievers = STUDY.figures.figure_1.retrievers
    runs = f"results/metrics/runs/{collection}"
    recall = [
        {
            "retriever": retriever,
            "judgements": judgements,
            "path": f"{runs}/{get_retriever_key(retriever)}/{SPLIT}.{file}.tsv",
        }
        for retriever in retrievers
        for judgements, file in get_judgement_files(first.pool)
    ]
    pool = naming.pool_key(STUDY, first.pool)
    shares = [
        {
            "retriever": retriever,
            "path": f"{runs}/{get_retriever_key(retriever)}/train.false-negatives-{pool}.tsv",
        }
        for retriever in retrievers
    ]
    rankings = [
        {
            "retriever": row["experiment"].retriever,
            "judgements": row["judgements"],
            "seed": row["seed"],
            "path": row["path"],
        }
        for row in get_rankings(
            lambda e: e.method == "naive"
            and e.retriever in retrievers
            and (e.collection, e.pool, e.ranker)
            == (first.collection, first.pool, first.ranker)
        )
    ]
    return {"recall": recall, "rankings": rankings, "shares": shares}


def get_figure_1_inputs():
    """Return the input files of Figure 1."""
    collection = get_collection_key(next(iter(EXPERIMENTS.values())))
    files = {
        kind: [row["path"] for row in rows]
        for kind, rows in get_figure_1_rows().items()
    }
    return {"queries": f"results/collections/{collection}/queries.tsv", **files}


def get_figure_1_json():
    """Return the parameters of Figure 1."""
    rows = {
        kind: [
            {name: value for name, value in row.items() if name != "path"}
            for row in rows
        ]
        for kind, rows in get_figure_1_rows().items()
    }
    return get_json(
        retrievers=STUDY.figures.figure_1.retrievers,
        cut=STUDY.figures.figure_1.recall_cut,
        measure="RR@10",
        collection=next(iter(EXPERIMENTS.values())).collection,
        **rows,
    )
