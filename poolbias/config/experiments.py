"""From a study file to its experiments: expansion, names and hashes.

A name that stands for the default parameters of its kind is a folder's name as it is (`hpo`,
`bm25`); other parameters add a short hash (`hpo-1a2b3c`), so that studies can share one results
folder without ever mixing what differs.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from pydantic import Field, TypeAdapter, ValidationError

from poolbias.config.base import Section
from poolbias.config.methods import AnyMethod
from poolbias.config.model import (
    Bm25Retriever,
    DenseRetriever,
    HpoCollection,
    Pool,
    Study,
    Training,
)
from poolbias.errors import ConfigError
from poolbias.files import hash_of
from poolbias.registry import unknown

DEFAULTS: dict[str, Section] = {
    "hpo": HpoCollection(),
    "bm25": Bm25Retriever(),
    "dense": DenseRetriever(),
    "outside": Bm25Retriever(documents="pool_documents"),
}
DEFAULT_POOLS = {"outside": Pool()}
METHOD: TypeAdapter[Any] = TypeAdapter(AnyMethod)
LISTS = frozenset({"betas"})  # values that are lists themselves, and do not stand for several


class Entry(Section):
    """One experiment of a study file, after its lists are expanded."""

    collection: str = Field(description="Name of the collection.")
    pool: str = Field(description="Name of the pool whose labels are trained on.")
    retriever: str = Field(description="Retriever whose run negatives come from.")
    method: dict[str, Any] = Field(description="Method by name, with options.")
    ranker: str = Field(description="Name of the ranker.")
    training: dict[str, Any] = Field({}, description="Settings that differ from `training`.")


@dataclass(frozen=True)
class Experiment:
    """One trained ranker, but for its seed."""

    name: str
    collection: str  # names in the study file
    pool: str
    retriever: str
    ranker: str
    method: str
    label: str  # the method with its options, for people
    parameters: dict[str, Any]  # everything that makes the ranker, resolved

    @property
    def coupled(self) -> bool:
        """Whether a selection model is trained beside the relevance model."""
        return bool(self.parameters["weight"]["name"] == "coupled")


def expand(study: Study) -> list[Experiment]:
    """Return the experiments of a study in the order of its file.

    Raises:
        ConfigError: naming the entry that refers to an unknown name, or that makes an experiment
            which another one makes already.
    """
    experiments: dict[str, tuple[Experiment, str]] = {}
    problems = []
    for number, raw in enumerate(study.experiments, start=1):
        where = f"experiments, entry {number}"
        for item in _product(_with_defaults(study, raw)):
            try:
                experiment = _experiment(study, item)
            except ConfigError as error:
                problems.append(f"{where}: {error}")
                continue
            if experiment.name in experiments:
                problems.append(
                    f"{where}: makes {experiment.name}, which {experiments[experiment.name][1]} "
                    "makes already (1 and 1.0 are one value); remove one of them."
                )
            experiments[experiment.name] = (experiment, where)
    if problems:
        raise ConfigError("\n".join(dict.fromkeys(problems)))
    return [experiment for experiment, _ in experiments.values()]


def key(name: str, parameters: Section, defaults: Mapping[str, Section] = DEFAULTS) -> str:
    """Return the folder's name of a collection or retriever called `name` in a study file."""
    if defaults.get(name) == parameters:
        return name
    return f"{name}-{hash_of(parameters.model_dump())}"


def pool_key(study: Study, name: str) -> str:
    """Return the folder's name of a pool; it depends on the retrievers that fill it too."""
    pool = study.pools[name]
    keys = [key(retriever, study.retrievers[retriever]) for retriever in pool.retrievers]
    if DEFAULT_POOLS.get(name) == pool and keys == pool.retrievers:
        return name
    return f"{name}-{hash_of([pool.model_dump(), keys])}"


def _with_defaults(study: Study, raw: dict[str, Any]) -> dict[str, Any]:
    """Fill in what a study has only one of, and a method given by its bare name."""
    filled = dict(raw)
    for field, names in (
        ("collection", study.collections),
        ("pool", study.pools),
        ("ranker", study.rankers),
    ):
        if field not in filled and len(names) == 1:
            filled[field] = next(iter(names))
    methods = filled.get("method")
    listed = methods if isinstance(methods, list) else [methods]
    filled["method"] = [{"name": m} if isinstance(m, str) else m for m in listed]
    return filled


def _product(value: Any) -> list[Any]:
    """Return every combination of the items of the lists within nested dictionaries."""
    if isinstance(value, list):
        return [item for element in value for item in _product(element)]
    if isinstance(value, dict):
        options = [[v] if k in LISTS else _product(v) for k, v in value.items()]
        return [dict(zip(value, choice, strict=True)) for choice in product(*options)]
    return [value]


def _experiment(study: Study, raw: dict[str, Any]) -> Experiment:
    try:
        entry = Entry.model_validate(raw)
        method = METHOD.validate_python(entry.method)
        training = Training.model_validate(study.training.model_dump() | entry.training)
    except ValidationError as error:
        from poolbias.config.load import sentences

        raise ConfigError("; ".join(sentences(error))) from error
    known: dict[str, Mapping[str, Any]] = {
        "collection": study.collections,
        "pool": study.pools,
        "retriever": study.retrievers,
        "ranker": study.rankers,
    }
    for field, names in known.items():
        if (name := getattr(entry, field)) not in names:
            raise ConfigError(unknown(field, name, names))
    parameters = _parameters(study, entry, method, training)
    collection = key(entry.collection, study.collections[entry.collection])
    readable = ".".join([collection, entry.retriever, method.label, entry.ranker])
    return Experiment(
        name=f"{readable}-{hash_of(parameters)}",
        collection=entry.collection,
        pool=entry.pool,
        retriever=entry.retriever,
        ranker=entry.ranker,
        method=method.name,
        label=method.label,
        parameters=parameters,
    )


def _parameters(study: Study, entry: Entry, method: Any, training: Training) -> dict[str, Any]:
    pool = study.pools[entry.pool]
    return {
        "collection": study.collections[entry.collection].model_dump(),
        "pool": pool.model_dump()
        | {"retrievers": [study.retrievers[name].model_dump() for name in pool.retrievers]},
        "retriever": study.retrievers[entry.retriever].model_dump(),
        **method.resolved(),
        "ranker": study.rankers[entry.ranker].model_dump(),
        "training": training.model_dump(),
        "device": study.device,
        "precision": study.precision,
        "threads": study.threads,
    }


def candidates_key(study: Study, experiment: Experiment) -> str:
    """Return the folder's name of the candidates that an experiment draws from.

    Experiments that differ only in loss, weight, ranker or training share it.
    """
    made_by = {
        name: experiment.parameters[name]
        for name in ("collection", "pool", "retriever", "negatives")
    }
    readable = (
        key(experiment.collection, study.collections[experiment.collection]),
        experiment.retriever,
        experiment.parameters["negatives"]["name"],
    )
    return f"{'.'.join(readable)}-{hash_of(made_by)}"
