"""From a study file to its experiments: their names, hashes and parameters.

A folder is named by what it holds, never by what a study file calls it: the standard parameters of
a kind are its label (`hpo`, `bm25`), others add a short hash (`hpo-1a2b3c`). So equal parameters
are one folder in every study, and studies can share one results folder without mixing what differs.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from poolbias.config import entries
from poolbias.config.base import Section
from poolbias.config.base_method import BareMethod
from poolbias.config.collections import WordnetCollection
from poolbias.config.entries import Choice
from poolbias.config.filters import Naive
from poolbias.config.model import HpoCollection, Pool
from poolbias.config.official import (
    DuReaderCollection,
    MsMarcoDocument,
    MsMarcoPassage,
    NaturalQuestions,
    TriviaQa,
)
from poolbias.config.places import spell
from poolbias.config.problems import Problem
from poolbias.config.retrievers import Bm25Retriever, DenseRetriever
from poolbias.config.study import Study
from poolbias.errors import ConfigError
from poolbias.files import hash_of

HALVES = (1, 2)
GIVEN = "given"  # the folder of labels that come with a collection
_STANDARD: dict[str, Section] = {
    section.label: section
    for section in (
        HpoCollection(),
        WordnetCollection(),
        MsMarcoPassage(),
        MsMarcoDocument(),
        DuReaderCollection(),
        NaturalQuestions(),
        TriviaQa(),
        Bm25Retriever(),
        DenseRetriever(),
        Bm25Retriever(documents="pool_documents"),
    )
}


@dataclass(frozen=True)
class Experiment:
    """One trained ranker, but for its seed; with `halves` the two whose rankings are joined."""

    name: str
    collection: str  # names in the study file
    pool: str
    retriever: str | None  # whose run negatives come from; None: from the whole collection
    ranker: str
    method: str
    label: str  # the method with its options, for people
    parameters: dict[str, Any]  # everything that makes the ranker, resolved
    teacher: "Experiment | None" = None  # the ranker whose scores choose its negatives
    first_stage: "Experiment | None" = None  # the ranker whose encoder it starts from
    reads: tuple[str, ...] = ()  # what its negatives read: `pool`, `rank_relevance`
    halves: tuple["Experiment", ...] = ()  # if two rankers are trained, one per half of the queries

    @property
    def coupled(self) -> bool:
        """Whether a selection model is trained beside the relevance model."""
        return bool(self.parameters["weight"]["name"] == "coupled")

    @property
    def limits(self) -> dict[str, int | None]:
        """The longest query, document and sequence in word pieces; None is no limit."""
        ranker = self.parameters["ranker"]
        return {name: ranker.get(f"{name}_tokens") for name in ("query", "document", "sequence")}


@dataclass(frozen=True)
class Ranked:
    """One row of a study: a retriever's run re-ranked by an experiment's rankers.

    A method that trains no ranker of its own (`zhan`) has the experiment of another one.
    """

    experiment: Experiment
    retriever: str  # whose run is re-ranked, as the study file calls it
    method: str  # the bare name, such as `cet`
    label: str  # with its options, such as `cet-paper-tau1`


def expand(study: Study) -> list[Experiment]:
    """Return the experiments that a study needs, each once, in the order of its file.

    Each is trained: of one with halves its halves are here. Teachers and first stages that are no
    row come last.

    Raises:
        ConfigError: as `rows`.
    """
    asked = [part for row in rows(study) for part in row.experiment.halves or (row.experiment,)]
    needed = [other for experiment in asked for other in _needed(experiment)]
    return list({experiment.name: experiment for experiment in [*asked, *needed]}.values())


def _needed(experiment: Experiment) -> Iterator[Experiment]:
    """Yield the experiments whose rankers must be trained before that of this one."""
    for other in (experiment.teacher, experiment.first_stage):
        if other:
            yield from (other, *_needed(other))


def rows(study: Study) -> list[Ranked]:
    """Return what a study ranks, in the order of its file: an experiment and a run each.

    Raises:
        ConfigError: a line for each entry that cannot be run or that makes a row which another
            one makes already.
    """
    choices, problems = read_entries(study)
    named, doubles = name_rows(study, choices)
    if problems or doubles:
        raise ConfigError("\n".join(str(problem) for problem in [*problems, *doubles]))
    return named


def read_entries(study: Study) -> tuple[list[Choice], list[Problem]]:
    """Return the expanded entries of a study, and what is wrong with the others."""
    names = {field: list(getattr(study, plural)) for field, plural in entries.NAMED.items()}
    return entries.read(study.experiments, names, study.training)


def name_rows(study: Study, choices: list[Choice]) -> tuple[list[Ranked], list[Problem]]:
    """Return the rows of a study, and a problem for each that another one is already."""
    named: dict[tuple[str, str], Ranked] = {}
    places: dict[tuple[str, str], Choice] = {}
    problems = []
    for choice in choices:
        row = _row(study, choice)
        key = (row.experiment.name, folder(study.retrievers[row.retriever]))
        if first := places.get(key):
            where = "this item" if first.place == choice.place else spell(first.place)
            problems.append(
                Problem(
                    choice.place,
                    f"found the experiment {row.experiment.name}, which {where} makes already, "
                    "need each once (1 and 1.0 are one value, and a default spelled out is the "
                    "default); remove one.",
                )
            )
        places.setdefault(key, choice)
        named.setdefault(key, row)
    return list(named.values()), list(dict.fromkeys(problems))


def training_parameters(experiment: Experiment, seed: int) -> dict[str, Any]:
    """Return the parameters of one training, as its stage takes and its manifest keeps them."""
    names = ("ranker", "training", "loss", "weight", "device", "precision", "threads")
    where_told = ("loss_options", "negatives_per_positive", "processes")
    given = [*names, *(name for name in where_told if name in experiment.parameters)]
    return {
        "seed": seed,
        "limits": experiment.limits,
        **{name: experiment.parameters[name] for name in given},
    }


def folder(section: Section) -> str:
    """Return the folder's name of what a collection or retriever makes."""
    standard = _STANDARD.get(section.label)
    if standard and standard.model_dump() == section.model_dump():  # as hashed: without places
        return section.label
    return f"{section.label}-{hash_of(section.model_dump())}"


def pool_key(study: Study, name: str) -> str:
    """Return the folder's name of a pool; it depends on the retrievers that fill it too."""
    pool = study.pools[name]
    if not pool.retrievers:
        return GIVEN
    sections = [study.retrievers[retriever] for retriever in pool.retrievers]
    folders = sorted({folder(section) for section in sections})
    readable = "+".join(sorted({section.label for section in sections}))
    standard = pool == Pool(retrievers=pool.retrievers)
    if standard and all(name in _STANDARD for name in folders):
        return readable
    return f"{readable}-{hash_of([pool.model_dump(exclude={'retrievers'}), folders])}"


def candidates_key(study: Study, experiment: Experiment) -> str:
    """Return the folder's name of the candidates that an experiment draws from.

    Experiments that differ only in loss, weight, ranker or training share it, but for those whose
    negatives a teacher chose: it is trained in their way.
    """
    made_by = {
        name: experiment.parameters[name]
        for name in ("collection", "pool", "retriever", "negatives", "teacher")
        if name in experiment.parameters
    }
    readable = (
        folder(study.collections[experiment.collection]),
        _source_label(study, experiment.retriever),
        experiment.parameters["negatives"]["name"],
    )
    return f"{'.'.join(readable)}-{hash_of(made_by)}"


def _row(study: Study, choice: Choice) -> Ranked:
    method = choice.method
    return Ranked(_experiment(study, choice), choice.retriever, method.method, method.label)


def _experiment(study: Study, choice: Choice, half: int | None = None) -> Experiment:
    """Return the experiment that trains the ranker of a row, or of one of its halves."""
    method = choice.method.trained
    retriever = choice.method.source(choice.retriever)
    parameters = _parameters(study, choice, retriever, method)
    halves: tuple[Experiment, ...] = ()
    if method.halved:
        parameters["negatives"] |= {"queries": study.evaluation.split, "half": half}
        halves = () if half else tuple(_experiment(study, choice, number) for number in HALVES)
    teacher = None
    if method.teacher and method.ranks:
        teacher = _experiment(study, replace(choice, method=Naive(depth=method.ranks)))
        parameters["teacher"] = {"experiment": teacher.name, **method.teacher}
    first_stage = None
    if first := getattr(study.rankers[choice.ranker], "first_stage", None):
        naive = Naive() if method.ranks is None else Naive(depth=method.ranks)
        plain = replace(choice, ranker=first, method=naive)
        first_stage = _experiment(study, plain)
        parameters["first_stage"] = first_stage.name
    label = f"{method.label}-half{half}" if half else method.label
    readable = (
        folder(study.collections[choice.collection]),
        _source_label(study, retriever),
        label,
        study.rankers[choice.ranker].label,
    )
    return Experiment(
        name=f"{'.'.join(readable)}-{hash_of(parameters)}",
        collection=choice.collection,
        pool=choice.pool,
        retriever=retriever,
        ranker=choice.ranker,
        method=method.method,
        label=label,
        parameters=parameters,
        teacher=teacher,
        first_stage=first_stage,
        reads=method.reads,
        halves=halves,
    )


def _source_label(study: Study, retriever: str | None) -> str:
    """Return the readable part of a name that tells where negatives come from."""
    return "collection" if retriever is None else study.retrievers[retriever].label


def _parameters(
    study: Study, choice: Choice, retriever: str | None, method: BareMethod
) -> dict[str, Any]:
    pool = study.pools[choice.pool]
    filled_by = {folder(r): r.model_dump() for r in (study.retrievers[n] for n in pool.retrievers)}
    return {
        "collection": study.collections[choice.collection].model_dump(),
        "pool": pool.model_dump() | {"retrievers": [filled_by[name] for name in sorted(filled_by)]},
        "retriever": study.retrievers[retriever].model_dump() if retriever else None,
        **method.resolved(),
        "ranker": study.rankers[choice.ranker].model_dump(),
        "training": choice.training.model_dump(),
        "device": study.device,
        "precision": study.precision,
        "threads": study.threads,
        # what one process trains keeps its name
        **({"processes": study.processes} if study.processes > 1 else {}),
    }
