"""Checks of sums and differences of means: one system over another, trends, swapped pools.

Each combines systems with weights, query by query and seed by seed, and compares what has positive
weights with what has negative ones.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from poolbias.claims.systems import EACH, Ranked, Store, spell, told
from poolbias.claims.verdict import Finding, NotRunError
from poolbias.evaluation.significance import compare

Check = Mapping[str, Any]
Part = tuple[float, Ranked]
SHARED = ("pool", "retriever", "ranker")
NO_RANKER = "-"  # of a run; it is compared with any ranker's ranking


def difference(
    store: Store, collection: str, column: tuple[str, str], check: Check
) -> list[Finding]:
    """Return a finding for each pair of systems: mean of the first less mean of the second.

    Args:
        store: the study's systems.
        collection: the folder's name of a collection.
        column: judgements and measure.
        check: `of` and `over` choose the systems; `same` says what a pair shares.

    Raises:
        NotRunError: saying what the study lacks.
    """
    return [
        contrast(store, column, [(1.0, a), (-1.0, b)], about(a, b))
        for a, b in pairs(store, collection, check)
    ]


def trend(store: Store, collection: str, column: tuple[str, str], check: Check) -> list[Finding]:
    """Return the mean change per step to the retriever with the next higher recall.

    It is the slope of the least-squares line through the means of the systems, one per retriever,
    over the retrievers' places 0, 1, … in order of recall. The order is taken as measured.

    Args:
        store: the study's systems.
        collection: the folder's name of a collection.
        column: judgements and measure.
        check: `of` chooses the systems.

    Raises:
        NotRunError: saying what the study lacks.
    """
    families: dict[tuple[str, str, str], dict[str, Ranked]] = {}
    for ranked in store.find(collection, check["of"]):
        family = families.setdefault((ranked.pool, ranked.ranker, ranked.method), {})
        family.setdefault(ranked.retriever, ranked)
    order = store.by_recall(collection)
    found = []
    for (pool, ranker, method), by_retriever in families.items():
        names = [name for name in order if name in by_retriever]
        if len(names) < 2:
            raise NotRunError(f"a trend needs two retrievers, the study has {method} on one")
        middle = (len(names) - 1) / 2
        total = sum((place - middle) ** 2 for place in range(len(names)))
        parts = [((place - middle) / total, by_retriever[n]) for place, n in enumerate(names)]
        row = {"pool": pool, "retriever": ", ".join(names), "ranker": ranker, "systems": method}
        found.append(contrast(store, column, parts, row))
    return found


def swap(store: Store, collection: str, column: tuple[str, str], check: Check) -> list[Finding]:
    """Return how far a difference of means moves to the other retriever when the pool does.

    For two pools that are filled by one compared retriever each, p by a and r by b, it is
    (D(b) − D(a)) under p less the same under r, where D is the mean of `of` less that of `over`:
    above 0 if D is larger for whichever retriever did not fill the pool.

    Args:
        store: the study's systems.
        collection: the folder's name of a collection.
        column: judgements and measure.
        check: `of`, and `over` or None, choose the systems; their pools must be `each`.

    Raises:
        NotRunError: saying what the study lacks.
    """
    terms: dict[tuple[str, str, str], list[Part]] = {}
    for weight, chosen in ((1.0, check["of"]), (-1.0, check["over"])):
        for ranked in store.find(collection, chosen) if chosen else []:
            key = (ranked.ranker, ranked.pool, ranked.retriever)
            terms.setdefault(key, []).append((weight, ranked))
    needed = 1 + bool(check["over"])
    filled = {pool: names[0] for pool, names in store.pools.items() if len(names) == 1}
    found = []
    for ranker in dict.fromkeys(ranker for ranker, _, _ in terms):
        for p, r, (a, b) in _two_pools(filled):
            signed = [(1.0, p, b), (-1.0, p, a), (-1.0, r, b), (1.0, r, a)]
            cells = [terms.get((ranker, pool, retriever), []) for _, pool, retriever in signed]
            if any(len(cell) != needed for cell in cells):
                continue
            parts = [
                (sign * weight, ranked)
                for (sign, _, _), cell in zip(signed, cells, strict=True)
                for weight, ranked in cell
            ]
            names = " over ".join(dict.fromkeys(ranked.method for _, ranked in cells[0]))
            row = {"pool": f"{p}, {r}", "retriever": f"{a}, {b}", "ranker": ranker}
            found.append(contrast(store, column, parts, row | {"systems": names}))
    if not found:
        raise NotRunError("the study has no two pools that one compared retriever each fills")
    return found


def pairs(store: Store, collection: str, check: Check) -> Iterator[tuple[Ranked, Ranked]]:
    """Yield the systems to compare: alike in what `of` and `over` do not name differently.

    Raises:
        NotRunError: if there is no such pair.
    """
    first, second = (store.find(collection, check[side]) for side in ("of", "over"))
    free = [
        name
        for name in SHARED
        if check["of"][name] == check["over"][name]
        or [EACH] in (check["of"][name], check["over"][name])
    ]
    if check.get("same") == "experiment":
        free.append("experiment")
    any_found = False
    for a in first:
        for b in second:
            if a != b and all(_alike(a, b, name) for name in free):
                any_found = True
                yield a, b
    if not any_found:
        raise NotRunError(
            f"the study has no {first[0].name} and {second[0].name} that share {', '.join(free)}"
            if free
            else f"{spell(first[0])} has no other system to be compared with"
        )


def contrast(
    store: Store, column: tuple[str, str], parts: Sequence[Part], row: Mapping[str, str]
) -> Finding:
    """Return the weighted sum of means, with interval and tests.

    Args:
        store: the study's systems.
        column: judgements and measure.
        parts: weights and systems; at least one weight is above 0.
        row: what the row says of pool, retriever, ranker and systems.

    Raises:
        NotRunError: if a system was not measured so, or if they share no query or seed.
    """
    frames = [(weight, store.frame(ranked, *column)) for weight, ranked in parts]
    trained = any(ranked.trained for _, ranked in parts)
    common = _common([frame for _, frame in frames])
    seeds = _seeds([frame for _, frame in frames])
    plus = _summed([(w, f) for w, f in frames if w > 0], common, seeds)
    minus = _summed([(-w, f) for w, f in frames if w < 0], common, seeds)
    if minus.empty:
        minus = plus.assign(value=0.0)
    found = compare(plus, minus, names=("the systems with positive weight", "the others"))
    return Finding(
        effect=found.difference,
        low=found.low,
        high=found.high,
        seeds=found.seeds if trained else 0,
        queries=found.queries,
        groups=found.groups,
        about=dict(row),
        p_t=found.p_t,
        p_randomisation=found.p_randomisation,
        smallest_detectable=found.smallest_detectable,
        sources=tuple(dict.fromkeys(ranked.id for _, ranked in parts)),
    )


def about(a: Ranked, b: Ranked) -> dict[str, str]:
    """Return what a row says of two compared systems."""
    shared = {name: _both(getattr(a, name), getattr(b, name)) for name in SHARED}
    return shared | {"systems": f"{told(a)} over {told(b)}"}


def _alike(a: Ranked, b: Ranked, name: str) -> bool:
    values = (getattr(a, name), getattr(b, name))
    return values[0] == values[1] or (name == "ranker" and NO_RANKER in values)


def _both(a: str, b: str) -> str:
    named = [name for name in dict.fromkeys((a, b)) if name != NO_RANKER]
    return " over ".join(named) or NO_RANKER


def _two_pools(filled: Mapping[str, str]) -> Iterator[tuple[str, str, tuple[str, str]]]:
    """Yield two pools and the retrievers that fill them, which differ."""
    names = list(filled)
    for number, p in enumerate(names):
        for r in names[number + 1 :]:
            if filled[p] != filled[r]:
                yield p, r, (filled[p], filled[r])


def _common(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return the queries that all frames have, columns `query_id` and `group`.

    Judged by the labels of several pools, systems have different queries.
    """
    common = frames[0][["query_id", "group"]].drop_duplicates()
    for frame in frames[1:]:
        common = common[common["query_id"].isin(frame["query_id"])]
    if common.empty:
        raise NotRunError("the systems were measured on different queries")
    return common


def _seeds(frames: Sequence[pd.DataFrame]) -> list[int]:
    """Return the seeds that all systems share; what was not trained has none (0), and joins any."""
    seeds = [set(frame["seed"]) for frame in frames if set(frame["seed"]) != {0}]
    shared = sorted(set.intersection(*seeds)) if seeds else [0]
    if not shared:
        raise NotRunError("the systems share no seed")
    return shared


def _summed(
    parts: Sequence[tuple[float, pd.DataFrame]], common: pd.DataFrame, shared: list[int]
) -> pd.DataFrame:
    """Return the weighted sum of the parts per query and seed."""
    if not parts:
        return pd.DataFrame(columns=["query_id", "group", "seed", "value"])
    total = None
    for weight, frame in parts:
        table = frame.pivot(index="query_id", columns="seed", values="value")
        wide = table[shared] if set(table) != {0} else pd.concat([table[0]] * len(shared), axis=1)
        wide.columns = pd.Index(shared, name="seed")
        total = weight * wide if total is None else total + weight * wide
    assert total is not None
    long = total.reset_index().melt("query_id", var_name="seed", value_name="value")
    return long.merge(common, on="query_id")
