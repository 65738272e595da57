"""What must fit together in a study file beyond each value by itself."""

import re
from collections.abc import Iterable, Iterator

from poolbias.config import check_given as given
from poolbias.config import check_rankers, check_retrievers, tuning
from poolbias.config import given_runs as runs
from poolbias.config.base import Section
from poolbias.config.check_retrievers import MEASURE
from poolbias.config.entries import LISTS, Choice, has_twice, twice
from poolbias.config.model import HpoCollection
from poolbias.config.places import Place, spell
from poolbias.config.problems import Problem, nearest, shown, unknown
from poolbias.config.retrievers import AnyRetriever
from poolbias.config.study import Study

ALIASES = {"mrr": "RR", "recall": "R", "ndcg": "nDCG", "map": "AP", "precision": "P", "rr": "RR"}
NAIVE_MEASURE = "RR@10"  # what Figure 1 shows of rankers
# Folders below results/ that no study owns.
SHARED_FOLDERS = frozenset(
    {
        *("benchmarks", "candidates", "collections", "encodings", "indexes", "logs", "metrics"),
        *("probes", "rankers", "rankings", "restored", "runs", "scores", "sources", "tokens"),
        *("gates", "retrievers", "searches"),
    }
)


def check(study: Study, choices: list[Choice]) -> list[Problem]:
    """Return a problem for each name, depth or number of a study that does not fit another.

    Args:
        study: a study whose values are right each by itself.
        choices: those of its experiments that are.
    """
    found = [
        *_name(study),
        *_repeats(study, ()),
        *_collections(study),
        *_pools(study),
        *(p for n, r in study.retrievers.items() if r.kind == "given" for p in runs.check(n, r)),
        *check_retrievers.check(study),
        *check_rankers.check(study.rankers, study.device),
        *_processes(study, choices),
        *_evaluation(study, choices),
        *_selection_models(study, choices),
        *_tuning(study, choices),
        *_figure_1(study),
        *_other_figures(study),
        *(problem for choice in choices for problem in _choice(study, choice)),
    ]
    return list(dict.fromkeys(found))


def _name(study: Study) -> Iterator[Problem]:
    if study.study in SHARED_FOLDERS or len(study.study) > 100:
        yield Problem(
            ("study",),
            f"found {study.study[:40]!r}, need at most 100 letters and none of "
            f"{', '.join(sorted(SHARED_FOLDERS))} (folders that all studies share); rename it.",
        )


def _repeats(section: Section, place: Place) -> Iterator[Problem]:
    for name in type(section).model_fields:
        value = getattr(section, name)
        if isinstance(value, Section):
            yield from _repeats(value, (*place, name))
        elif isinstance(value, dict):
            for key, item in value.items():
                yield from _repeats(item, (*place, name, key))
        elif isinstance(value, list) and name not in {*LISTS, "experiments"} and has_twice(value):
            yield twice(value, (*place, name))


def _collections(study: Study) -> Iterator[Problem]:
    for name, collection in study.collections.items():
        place = ("collections", name)
        shares = getattr(collection, "shares", None)
        total = sum(shares.model_dump().values()) if shares else 1.0
        if abs(total - 1) > 1e-9:
            yield Problem(
                (*place, "shares"), f"found shares that add up to {total:g}, need 1; correct one."
            )
        bounds = [getattr(collection, f"{end}_relevant", 0) for end in ("minimum", "maximum")]
        if bounds[0] > bounds[1]:
            yield Problem(
                (*place, "minimum_relevant"),
                f"found {bounds[0]}, need at most maximum_relevant ({bounds[1]}); correct one.",
            )
        if isinstance(collection, HpoCollection) and not re.fullmatch(
            r"HP:[0-9]{7}", collection.root
        ):
            yield Problem(
                (*place, "root"),
                f"found {shown(collection.root)}, need the id of a term such as HP:0000001; "
                "correct the value.",
            )


def _pools(study: Study) -> Iterator[Problem]:
    for name, pool in study.pools.items():
        for number, retriever in enumerate(pool.retrievers):
            place = ("pools", name, "retrievers", number)
            if retriever not in study.retrievers:
                yield Problem(place, unknown("retriever", retriever, study.retrievers))
            elif pool.depth > study.retrievers[retriever].depth:
                yield _too_deep(study, retriever, pool, ("pools", name, "depth"))


def _processes(study: Study, choices: list[Choice]) -> Iterator[Problem]:
    for choice in choices:
        if choice.training.pairs % study.processes:
            yield Problem(
                ("processes",),
                f"found {study.processes}, need a number that divides the {choice.training.pairs} "
                f"pairs of a step (`training` of {spell(choice.place)}, or of the study); change "
                "one.",
            )


def _evaluation(study: Study, choices: list[Choice]) -> Iterator[Problem]:
    for name, collection in dict.fromkeys((c.retriever, c.collection) for c in choices):
        own = getattr(study.collections[collection], "reranked", None)
        depth, retriever = own or study.evaluation.depth, study.retrievers[name]
        if retriever.depth < depth and not _is_pools_own(retriever):
            yield _too_deep(study, name, study.evaluation, ("evaluation", "depth"))
    for number, measure in enumerate(study.evaluation.measures):
        if not MEASURE.fullmatch(measure):
            name, at, cut = measure.partition("@")
            near = ALIASES.get(name.lower()) or nearest(name, ALIASES.values())
            do = f"did you mean '{near}{at}{cut}'?" if near else "correct the value."
            yield Problem(
                ("evaluation", "measures", number),
                f"found {shown(measure)}, need a measure as ir-measures spells it, such as RR@10, "
                f"nDCG@10 or R@100; {do}",
            )


def _tuning(study: Study, choices: list[Choice]) -> Iterator[Problem]:
    if study.tuning is not None:
        evaluation = study.evaluation
        yield from tuning.check(study.tuning, evaluation.split, evaluation.measures, choices)


def _selection_models(study: Study, choices: list[Choice]) -> Iterator[Problem]:
    coupled = list(dict.fromkeys(c.method.label for c in choices if c.method.coupled))
    for number, label in enumerate(study.evaluation.selection_models):
        if label not in coupled:
            place = ("evaluation", "selection_models", number)
            if coupled:
                yield Problem(place, unknown("coupled method", label, coupled))
            else:
                yield Problem(
                    place,
                    f"found {shown(label)}, need a coupled method (cet), of which this study has "
                    "none; remove it.",
                )


def _figure_1(study: Study) -> Iterator[Problem]:
    figure, measures = study.figures.figure_1, study.evaluation.measures
    place: Place = ("figures", "figure_1")
    for number, name in enumerate(figure.retrievers):
        here = (*place, "retrievers", number)
        if name not in study.retrievers:
            yield Problem(here, unknown("retriever", name, study.retrievers))
        elif _is_pools_own(study.retrievers[name]):
            yield _other_texts(name, here)
        else:
            depth = study.retrievers[name].depth
            if figure.recall_cut > depth:
                yield _too_deep(study, name, figure, (*place, "recall_cut"))
            if max(figure.shares_depths) > depth:
                yield _too_deep(study, name, figure, (*place, "shares_depths"))
    spelled = all(MEASURE.fullmatch(measure) for measure in measures)
    for measure in (f"R@{figure.recall_cut}", NAIVE_MEASURE) if spelled else ():
        if measure not in measures:
            yield Problem(
                ("evaluation", "measures"),
                f"found no {measure}, which figure_1 shows; add it"
                f"{' or change figures.figure_1.recall_cut' if measure[:2] == 'R@' else ''}.",
            )


def _other_figures(study: Study) -> Iterator[Problem]:
    figures = study.figures
    places: dict[Place, str | None] = {
        ("figures", "figure_3", "retrievers", number): name
        for number, name in enumerate(figures.figure_3.retrievers or [])
    }
    places["figures", "figure_4", "retriever"] = figures.figure_4.retriever
    places["figures", "figure_5", "retriever"] = figures.figure_5.retriever
    for place, name in places.items():
        if name is not None and name not in study.retrievers:
            yield Problem(place, unknown("retriever", name, study.retrievers))


def _choice(study: Study, choice: Choice) -> Iterable[Problem]:
    retriever = study.retrievers[choice.retriever]
    if _is_pools_own(retriever):
        yield _other_texts(choice.retriever, (*choice.place, "retriever"))
    source = choice.method.source(choice.retriever)
    if source and _is_pools_own(study.retrievers[source]):
        if source != choice.retriever:
            yield _other_texts(source, (*choice.place, "method", "trained_on"))
    elif source and (choice.method.ranks or 0) > study.retrievers[source].depth:
        depth = (*choice.place, "method", "depth")
        yield _too_deep(study, source, choice.method, depth)
    yield from given.check(study, choice)
    yield from _evidence(study, choice)
    yield from _negatives(choice)
    steps = choice.training.steps
    if choice.method.coupled and study.probe.steps and max(study.probe.steps) > steps:
        yield Problem(
            ("probe", "steps"),
            f"found step {max(study.probe.steps)}, need at most {steps}, the steps of the training "
            f"of {spell(choice.place)}; lower it or train longer.",
        )


def _negatives(choice: Choice) -> Iterator[Problem]:
    several, ranks = getattr(choice.method, "negatives_per_positive", 1), choice.method.ranks
    if ranks is not None and several > ranks:
        yield Problem(
            (*choice.place, "method", "negatives_per_positive"),
            f"found {several}, need at most {ranks}, the depth that negatives come from; lower it "
            "or raise depth.",
        )


def _evidence(study: Study, choice: Choice) -> Iterator[Problem]:
    """Yield what keeps a method's negatives from reading what they need."""
    method, pool = choice.method, study.pools[choice.pool]
    if "pool" in method.reads and pool.labels_per_query is not None:
        yield Problem(
            (*choice.place, "method"),
            f"found {method.method!r} with pool {choice.pool!r}, whose labels_per_query is "
            f"{pool.labels_per_query}, need null: only then is what annotators saw and did not "
            "label irrelevant; use another pool or remove the method.",
        )
    if "rank_relevance" in method.reads and not method.halved and study.evaluation.split == "dev":
        yield Problem(
            (*choice.place, "method", "queries"),
            "found 'dev', whose truth would then both tell P(r) and be the result, since "
            "evaluation.split is dev; write halves.",
        )


def _is_pools_own(retriever: AnyRetriever) -> bool:
    return getattr(retriever, "documents", "documents") == "pool_documents"


def _other_texts(name: str, place: Place) -> Problem:
    return Problem(
        place,
        f"found {name!r}, which searches pool_documents, need a retriever that searches documents "
        "(only a pool may search other texts); name another.",
    )


def _too_deep(study: Study, retriever: str, section: Section, place: Place) -> Problem:
    """Return the problem that the field of `section` at `place` is deeper than a retriever."""
    field = str(place[-1])
    value = getattr(section, field)
    default = "" if field in section.model_fields_set else " (the default)"
    most = study.retrievers[retriever].depth
    return Problem(
        place,
        f"found {shown(value)}{default}, need at most {most}, the depth of retriever "
        f"{retriever!r}; lower it or raise retrievers.{retriever}.depth.",
    )
