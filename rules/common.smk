# Helpers of the rules: the study, its keys, and the parameters that each stage gets as JSON.
import json
import re
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger

sys.path.insert(0, str(workflow.basedir))

from poolbias import models, negatives, stages  # noqa: E402
from poolbias.collections import KINDS, wordnet  # noqa: E402
from poolbias.config import experiments as naming  # noqa: E402
from poolbias.config import tuning  # noqa: E402
from poolbias.config.given import Given  # noqa: E402
from poolbias.config.load import load  # noqa: E402
from poolbias.config.states import STALE, state  # noqa: E402
from poolbias.errors import PoolbiasError  # noqa: E402
from poolbias.environment import prepare  # noqa: E402
from poolbias.files import hash_of, sha256_of  # noqa: E402
from poolbias.formats.tsv import read_table  # noqa: E402
from poolbias.publishing import restore as restoring  # noqa: E402
from poolbias.tables import rows as table_rows  # noqa: E402
from poolbias.training import finished  # noqa: E402

prepare(Path(workflow.basedir))


def get_configfile():
    """Return the path of the study file."""
    default = Path(workflow.basedir) / "config" / "config.yaml"
    return str([*workflow.overwrite_configfiles, default][0])


def get_study():
    """Return the checked study (the one --configfile, or config/config.yaml), and its rows."""
    files = [str(path) for path in workflow.overwrite_configfiles]
    if len(files) > 1:
        raise WorkflowError(
            f"--configfile: found {len(files)} files ({', '.join(files)}), need one, since a study "
            "file is complete by itself; targets go before --configfile."
        )
    path = get_configfile()
    overrides = dict(workflow.config_settings.config or {})
    try:
        study = load(path, overrides)
        return study, naming.rows(study)
    except PoolbiasError as error:
        raise WorkflowError(str(error)) from None
    except (
        ArithmeticError,
        AttributeError,
        LookupError,
        RecursionError,
        ValueError,
    ) as error:
        raise WorkflowError(
            f"{path}: holds a value that cannot be read ({error}); write plain numbers and names."
        ) from None


STUDY, ROWS = get_study()
EXPERIMENTS = {experiment.name: experiment for experiment in naming.expand(STUDY)}
RANKED = EXPERIMENTS | {row.experiment.name: row.experiment for row in ROWS}
SPLIT = STUDY.evaluation.split
COLLECTIONS = {naming.folder(c): c for c in STUDY.collections.values()}
RETRIEVERS = {naming.folder(r): r for r in STUDY.retrievers.values()}
POOLS = {naming.pool_key(STUDY, name): pool for name, pool in STUDY.pools.items()}
CANDIDATES = {naming.candidates_key(STUDY, e): e for e in EXPERIMENTS.values()}


def get_stale():
    """Return the manifests of rankers that other code or parameters made than this study's.

    Snakemake compares parameters only where it has seen a file made; a results folder that another
    checkout filled, or a lost .snakemake folder, would pass unseen.
    """
    return [
        f"results/rankers/{experiment.name}/seed-{seed}/manifest.json"
        for experiment in EXPERIMENTS.values()
        for seed in STUDY.seeds
        if state(experiment, seed, Path("results"), stages.given_training) == STALE
    ]


def get_restored():
    """Return the restored files that stand in for results, by their path from `results` on."""
    found = restoring.usable(Path("results"), Path(workflow.basedir))
    for study in found:
        if study.refused:
            logger.warning(study.sentence())
    return {name for study in found for name in study.files}


RESTORED = get_restored()


def get_result(path):
    """Return a result's path, or that of its restored like where none was made here."""
    name = path.removeprefix("results/")
    return f"results/restored/{name}" if name in RESTORED else path


for manifest in get_stale() if workflow.is_main_process else []:
    logger.warning(
        f"{manifest}: made by other code or parameters than this study's. If no job below trains "
        f"this ranker again, name it: --forcerun {manifest}"
    )


def get_command(script):
    """Return how a shell command starts: the parameters as a file, then the stage's script."""
    return (
        "printf '%s\\n' {params.json:q} > {log.parameters} && "
        # exec: what ends the job's shell ends the stage itself, after a last checkpoint
        f'exec python "$POOLBIAS_ROOT"/workflow/scripts/{script}.py '
        "--parameters {log.parameters} --log {log.text} --checkpoints results/checkpoints "
        f"--checkpoint-minutes {STUDY.checkpoint_minutes} "
    )


def get_pattern(names):
    """Return a regular expression that matches exactly these names."""
    return "|".join(re.escape(name) for name in names) or "(?!)"


def get_json(parameters):
    """Return parameters as one line of JSON."""
    return json.dumps(parameters, sort_keys=True, allow_nan=False)


def get_stage_json(stage, choices=(), **parameters):
    """Return a stage's parameters, and the fingerprint of its code, as one line of JSON."""
    return get_json(stages.given(stage, choices, parameters))


def get_collection_key(experiment):
    """Return the folder's name of an experiment's collection."""
    return naming.folder(STUDY.collections[experiment.collection])


def get_retriever_key(name):
    """Return the folder's name of a retriever of this study."""
    return naming.folder(STUDY.retrievers[name])


def get_index(wildcards):
    """Return the index that a BM25 retriever searches."""
    documents = RETRIEVERS[wildcards.retriever].documents
    return f"results/indexes/{wildcards.collection}/{documents}"


def get_measures_mark(measures):
    """Return what a metrics file's name ends in: nothing for the default measures or depths."""
    defaults = (
        type(STUDY.evaluation)().measures,
        type(STUDY.figures.figure_1)().shares_depths,
    )
    return "" if measures in defaults else f"-{hash_of(sorted(measures))}"


def get_measures(wildcards):
    """Return the measures of a run, or of a ranking: those that look no deeper than it goes."""
    measures = STUDY.evaluation.measures
    if wildcards.ranked.startswith("runs/"):
        return measures
    cuts = [re.search(r"@(\d+)$", measure) for measure in measures]
    return [
        measure
        for measure, cut in zip(measures, cuts)
        if cut is None or int(cut[1]) <= int(wildcards.ranked.rpartition("top-")[2])
    ]


def get_pool_runs(wildcards):
    """Return the runs whose top results the annotators of a pool see, all splits."""
    keys = [get_retriever_key(name) for name in POOLS[wildcards.pool].retrievers]
    return expand(
        "results/runs/{collection}/{retriever}/{split}.run.gz",
        collection=wildcards.collection,
        retriever=keys,
        split=["train", "dev", "test"],
    )


def get_tokens(experiment):
    """Return the token store that an experiment's ranker reads."""
    start = experiment.parameters["ranker"]["start"]
    return f"results/tokens/{get_collection_key(experiment)}/{start}"


def get_input_options(wildcards, input):
    """Return the inputs of a rule as options of its script; a gate has only to be passed."""
    return " ".join(
        f"--{name.replace('_', '-')} {path}"
        for name, path in input.items()
        if name != "gate"
    )


def get_rerank_inputs(wildcards):
    """Return what re-ranking a run with a trained ranker reads."""
    experiment = EXPERIMENTS[wildcards.experiment]
    collection = get_collection_key(experiment)
    return {
        "ranker": f"results/rankers/{wildcards.experiment}/seed-{wildcards.seed}/"
        f"{wildcards.selection or 'R/'}model.safetensors",
        "run": f"results/runs/{collection}/{wildcards.retriever}/{wildcards.split}.run.gz",
        "queries": f"results/collections/{collection}/queries.tsv",
        "documents": f"results/collections/{collection}/documents.tsv",
        "tokens": get_tokens(experiment),
    }


def get_rerank_json(wildcards):
    """Return the parameters of re-ranking."""
    experiment = EXPERIMENTS[wildcards.experiment]
    return get_stage_json(
        "rerank",
        choices=[models.RANKERS[experiment.parameters["ranker"]["kind"]]],
        depth=int(wildcards.depth),
        limits=experiment.limits,
        tag=wildcards.experiment + wildcards.selection.replace("S/", ".S"),
        **{
            name: experiment.parameters[name]
            for name in ("device", "precision", "threads")
        },
    )


def get_judgements(wildcards):
    """Return the queries of a run or ranking, and the qrels that it is measured against."""
    kind, name = wildcards.ranked.split("/")[:2]
    collection = name if kind == "runs" else get_collection_key(RANKED[name])
    folder = f"results/collections/{collection}"
    pool = wildcards.judgements.partition(".")[0].removeprefix("labels-")
    judgements = "truth.qrels" if pool == "truth" else f"pools/{pool}/labels.qrels"
    return {"queries": f"{folder}/queries.tsv", "judgements": f"{folder}/{judgements}"}


def get_growing(amount, large=None):
    """Return a resource that grows with each attempt of a job that was ended for want of it.

    `large` is that of a job about one of the official collections, which are large.
    """
    return (
        lambda wildcards, attempt: (large if large and is_large(wildcards) else amount)
        * attempt
    )


def forget_finished():
    """Forget what trainings kept for a Snakemake that would not have seen them finish."""
    trainings = [(name, seed) for name in EXPERIMENTS for seed in STUDY.seeds]
    finished.forget(Path("results"), trainings)


def get_gpus(processes=1):
    """Return how many GPUs a job that runs a model asks for: one for each process."""
    return processes * (STUDY.device == "cuda")
