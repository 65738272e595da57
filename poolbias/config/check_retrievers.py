"""What must fit together in the retrievers of a study file beyond each value by itself."""

import re
from collections.abc import Iterator

from poolbias.config.base_retriever import Expected
from poolbias.config.places import Place
from poolbias.config.problems import Problem, shown, unknown
from poolbias.config.retrievers import RunRetriever
from poolbias.config.study import Study
from poolbias.config.trained import TrainedRetriever

ENCODERS = ("all-MiniLM-L6-v2",)
MEASURE = re.compile(
    r"(RR|nDCG|R|P|AP|Success|Rprec|Bpref|infAP|SetP|SetR|SetF)(\([^)]+\))?(@[1-9][0-9]*)?"
)


def check(study: Study) -> Iterator[Problem]:
    """Yield a problem for each name or choice of a retriever that does not fit the study."""
    for name, retriever in study.retrievers.items():
        place: Place = ("retrievers", name)
        if retriever.expected is not None:
            yield from _expected(study, retriever.expected, (*place, "expected"))
        shards = getattr(retriever, "shards", 1)
        if getattr(retriever, "faiss", None) and shards > 1:
            yield Problem(
                (*place, "shards"),
                f"found {shards} with an index of faiss, need 1: only the exact search "
                "is shared; remove one.",
            )
        if isinstance(retriever, RunRetriever) and "{" in retriever.run.replace("{split}", ""):
            yield Problem(
                (*place, "run"),
                f"found {shown(retriever.run)}, need no braces but {{split}}; correct the path.",
            )
        if isinstance(retriever, TrainedRetriever):
            yield from _trained(study, name, retriever)


def _expected(study: Study, expected: Expected, place: Place) -> Iterator[Problem]:
    if expected.pool is not None and expected.pool not in study.pools:
        yield Problem((*place, "pool"), unknown("pool", expected.pool, study.pools))
    if not MEASURE.fullmatch(expected.measure):
        yield Problem(
            (*place, "measure"),
            f"found {shown(expected.measure)}, need a measure as ir-measures spells it, such as "
            "R@1000; correct the value.",
        )


def _trained(study: Study, name: str, retriever: TrainedRetriever) -> Iterator[Problem]:
    place: Place = ("retrievers", name)
    if retriever.pool not in study.pools:
        yield Problem((*place, "pool"), unknown("pool", retriever.pool, study.pools))
    trained = [n for n, r in study.retrievers.items() if isinstance(r, TrainedRetriever)]
    known = [*ENCODERS, *(other for other in trained if other != name)]
    if retriever.start not in known:
        yield Problem(
            (*place, "start"),
            unknown("published encoder or trained retriever", retriever.start, known),
        )
    elif name in _ancestors(study, name):
        yield Problem(
            place,
            "found a circle: by `start`, `negatives_from` or the pool's retrievers it needs "
            "itself, need retrievers that can be made one after the other; change one of them.",
        )
    yield from _negatives(study, retriever, place)
    yield from _losses(retriever, place)


def _negatives(study: Study, retriever: TrainedRetriever, place: Place) -> Iterator[Problem]:
    here = (*place, "negatives_from")
    if (retriever.negatives == "static") is not (retriever.negatives_from is not None):
        need = "a retriever" if retriever.negatives == "static" else "null"
        yield Problem(
            here,
            f"found {shown(retriever.negatives_from)} where negatives are "
            f"{shown(retriever.negatives)}, need {need}; only `static` negatives come from a run.",
        )
    elif retriever.negatives_from is not None:
        if retriever.negatives_from not in study.retrievers:
            yield Problem(here, unknown("retriever", retriever.negatives_from, study.retrievers))
        elif study.retrievers[retriever.negatives_from].depth < retriever.negatives_depth:
            depth = study.retrievers[retriever.negatives_from].depth
            yield Problem(
                (*place, "negatives_depth"),
                f"found {retriever.negatives_depth}, need at most {depth}, the depth of retriever "
                f"{shown(retriever.negatives_from)}; lower it.",
            )
    if retriever.rounds > 1 and retriever.negatives != "refreshed":
        yield Problem(
            (*place, "rounds"),
            f"found {retriever.rounds} where negatives are {shown(retriever.negatives)}, need 1; "
            "only `refreshed` negatives have rounds.",
        )


def _losses(retriever: TrainedRetriever, place: Place) -> Iterator[Problem]:
    if (retriever.loss == "lambda") is not (retriever.negatives == "dynamic"):
        yield Problem(
            (*place, "loss"),
            f"found {shown(retriever.loss)} with negatives {shown(retriever.negatives)}, need "
            "`lambda` with `dynamic` and neither without the other; change one.",
        )
    listed = retriever.negatives in ("static", "refreshed")
    for key in ("loss", "group"):
        value = getattr(retriever, key)
        if value in ("pairwise", "own") and not listed:
            yield Problem(
                (*place, key),
                f"found {shown(value)} with negatives {shown(retriever.negatives)}, need `static` "
                "or `refreshed` ones, which are a query's own; change one.",
            )
    if retriever.coupling is not None and retriever.loss != "pairwise":
        yield Problem(
            (*place, "coupling"),
            f"found coupled weights with loss {shown(retriever.loss)}, need loss `pairwise`, whose "
            "pairs they are on; change one.",
        )
    if (retriever.architecture == "adore") is not (retriever.negatives == "dynamic"):
        yield Problem(
            (*place, "architecture"),
            f"found {shown(retriever.architecture)} with negatives {shown(retriever.negatives)}, "
            "need `adore` with `dynamic` and neither without the other; change one.",
        )
    if retriever.architecture == "adore" and retriever.start in ENCODERS:
        yield Problem(
            (*place, "start"),
            f"found {shown(retriever.start)}, need a trained retriever, whose documents' vectors "
            "stay as they are; name one.",
        )


def _ancestors(study: Study, name: str) -> set[str]:
    """Return the retrievers that one needs, directly or through others."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        retriever = study.retrievers.get(waiting.pop())
        if isinstance(retriever, TrainedRetriever):
            pool = study.pools.get(retriever.pool)
            needs = {retriever.start, retriever.negatives_from, *(pool.retrievers if pool else ())}
            new = {need for need in needs if need in study.retrievers} - found
            found |= {str(need) for need in new}
            waiting += [str(need) for need in new]
    return found
