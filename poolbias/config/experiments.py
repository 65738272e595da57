"""From a study file to its experiments: their names, hashes and parameters.

A folder is named by what it holds, never by what a study file calls it: the standard parameters of
a kind are its label (`hpo`, `bm25`), others add a short hash (`hpo-1a2b3c`). So equal parameters
are one folder in every study, and studies can share one results folder without mixing what differs.
"""

from dataclasses import dataclass
from typing import Any

from poolbias.config import entries
from poolbias.config.base import Section
from poolbias.config.entries import Choice
from poolbias.config.model import Bm25Retriever, DenseRetriever, HpoCollection, Pool
from poolbias.config.places import spell
from poolbias.config.problems import Problem
from poolbias.config.study import Study
from poolbias.errors import ConfigError
from poolbias.files import hash_of

_STANDARD: dict[str, Section] = {
    section.label: section
    for section in (
        HpoCollection(),
        Bm25Retriever(),
        DenseRetriever(),
        Bm25Retriever(documents="pool_documents"),
    )
}


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

    @property
    def limits(self) -> dict[str, int | None]:
        """The longest query, document and sequence in word pieces; None is no limit."""
        ranker = self.parameters["ranker"]
        return {name: ranker[f"{name}_tokens"] for name in ("query", "document", "sequence")}


def expand(study: Study) -> list[Experiment]:
    """Return the experiments of a study in the order of its file.

    Raises:
        ConfigError: a line for each entry that cannot be run or that makes an experiment which
            another one makes already.
    """
    choices, problems = read_entries(study)
    experiments, doubles = name_experiments(study, choices)
    if problems or doubles:
        raise ConfigError("\n".join(str(problem) for problem in [*problems, *doubles]))
    return experiments


def read_entries(study: Study) -> tuple[list[Choice], list[Problem]]:
    """Return the expanded entries of a study, and what is wrong with the others."""
    names = {field: list(getattr(study, plural)) for field, plural in entries.NAMED.items()}
    return entries.read(study.experiments, names, study.training)


def name_experiments(study: Study, choices: list[Choice]) -> tuple[list[Experiment], list[Problem]]:
    """Return the experiments, and a problem for each that another one is already."""
    experiments: dict[str, Experiment] = {}
    places: dict[str, Choice] = {}
    problems = []
    for choice in choices:
        experiment = _experiment(study, choice)
        if first := places.get(experiment.name):
            where = "this item" if first.place == choice.place else spell(first.place)
            problems.append(
                Problem(
                    choice.place,
                    f"found the experiment {experiment.name}, which {where} makes already, need "
                    "each once (1 and 1.0 are one value, and a default spelled out is the "
                    "default); remove one.",
                )
            )
        places.setdefault(experiment.name, choice)
        experiments.setdefault(experiment.name, experiment)
    return list(experiments.values()), list(dict.fromkeys(problems))


def training_parameters(experiment: Experiment, seed: int) -> dict[str, Any]:
    """Return the parameters of one training, as its stage takes and its manifest keeps them."""
    names = ("ranker", "training", "loss", "weight", "device", "precision", "threads")
    return {
        "seed": seed,
        "limits": experiment.limits,
        **{name: experiment.parameters[name] for name in names},
    }


def folder(section: Section) -> str:
    """Return the folder's name of what a collection or retriever makes."""
    if _STANDARD.get(section.label) == section:
        return section.label
    return f"{section.label}-{hash_of(section.model_dump())}"


def pool_key(study: Study, name: str) -> str:
    """Return the folder's name of a pool; it depends on the retrievers that fill it too."""
    pool = study.pools[name]
    sections = [study.retrievers[retriever] for retriever in pool.retrievers]
    folders = sorted({folder(section) for section in sections})
    readable = "+".join(sorted({section.label for section in sections}))
    standard = pool == Pool(retrievers=pool.retrievers)
    if standard and all(name in _STANDARD for name in folders):
        return readable
    return f"{readable}-{hash_of([pool.model_dump(exclude={'retrievers'}), folders])}"


def candidates_key(study: Study, experiment: Experiment) -> str:
    """Return the folder's name of the candidates that an experiment draws from.

    Experiments that differ only in loss, weight, ranker or training share it.
    """
    made_by = {
        name: experiment.parameters[name]
        for name in ("collection", "pool", "retriever", "negatives")
    }
    readable = (
        folder(study.collections[experiment.collection]),
        study.retrievers[experiment.retriever].label,
        experiment.parameters["negatives"]["name"],
    )
    return f"{'.'.join(readable)}-{hash_of(made_by)}"


def _experiment(study: Study, choice: Choice) -> Experiment:
    parameters = _parameters(study, choice)
    readable = (
        folder(study.collections[choice.collection]),
        study.retrievers[choice.retriever].label,
        choice.method.label,
        study.rankers[choice.ranker].label,
    )
    return Experiment(
        name=f"{'.'.join(readable)}-{hash_of(parameters)}",
        collection=choice.collection,
        pool=choice.pool,
        retriever=choice.retriever,
        ranker=choice.ranker,
        method=choice.method.method,
        label=choice.method.label,
        parameters=parameters,
    )


def _parameters(study: Study, choice: Choice) -> dict[str, Any]:
    pool = study.pools[choice.pool]
    filled_by = {folder(r): r.model_dump() for r in (study.retrievers[n] for n in pool.retrievers)}
    return {
        "collection": study.collections[choice.collection].model_dump(),
        "pool": pool.model_dump() | {"retrievers": [filled_by[name] for name in sorted(filled_by)]},
        "retriever": study.retrievers[choice.retriever].model_dump(),
        **choice.method.resolved(),
        "ranker": study.rankers[choice.ranker].model_dump(),
        "training": choice.training.model_dump(),
        "device": study.device,
        "precision": study.precision,
        "threads": study.threads,
    }
