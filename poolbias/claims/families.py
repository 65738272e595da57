"""Checks of several systems at once: a gap closed, a family that stays together, its worst member.

A family's verdict holds for all its members, or for one that was looked for among them; the rules
of each are in its docstring.
"""

import math
from dataclasses import replace

import numpy as np

from poolbias.claims.comparisons import Check, about, contrast, pairs
from poolbias.claims.systems import Ranked, Store
from poolbias.claims.verdict import (
    CONTRADICTED,
    INCONCLUSIVE,
    REPRODUCED,
    WITHIN,
    Finding,
    NotRunError,
    judge,
)
from poolbias.evaluation.means import OUTSIDE, resample
from poolbias.evaluation.significance import LEVEL, holm


def gap(store: Store, collection: str, column: tuple[str, str], check: Check) -> list[Finding]:
    """Return the share of a gap that systems close: (of − over) / (goal − over).

    Its interval is that of the resampled shares, groups and seeds drawn for all three together. A
    gap whose own interval holds 0 has no share: the finding is inconclusive then.

    Args:
        store: the study's systems.
        collection: the folder's name of a collection.
        column: judgements and measure.
        check: `of`, `over` and `goal` choose the systems.

    Raises:
        NotRunError: saying what the study lacks.
    """
    goals = store.find(collection, check["goal"])
    found = []
    for of, over in pairs(store, collection, check):
        ends = [g for g in goals if _place(g) == _place(over) and g not in (of, over)]
        found += [_share(store, column, of, over, goal) for goal in ends]
    if not found:
        raise NotRunError(f"the study has no {goals[0].name} beside the others")
    return found


def stable(store: Store, collection: str, column: tuple[str, str], check: Check) -> list[Finding]:
    """Return the largest difference of a family's members from one of them.

    Reproduced if the intervals of all members lie within the bound (an intersection-union test:
    no adjustment is needed), contradicted if the interval of one lies wholly outside. Shown is the
    member whose interval reaches farthest.

    Args:
        store: the study's systems.
        collection: the folder's name of a collection.
        column: judgements and measure.
        check: `of` chooses the family, `over` the member that others are compared with.

    Raises:
        NotRunError: saying what the study lacks.
    """
    bound = check["threshold"]
    found = []
    for members in _by_place(_members(store, collection, column, check)).values():
        verdicts = [judge(each.low, each.high, WITHIN, bound) for each in members]
        verdict = CONTRADICTED if CONTRADICTED in verdicts else INCONCLUSIVE
        verdict = REPRODUCED if set(verdicts) == {REPRODUCED} else verdict
        farthest = max(members, key=lambda each: max(abs(each.low), abs(each.high)))
        if verdict == CONTRADICTED:
            farthest = members[verdicts.index(CONTRADICTED)]
        found.append(_of_family(farthest, members, verdict))
    return found


def worst(store: Store, collection: str, column: tuple[str, str], check: Check) -> list[Finding]:
    """Return the lowest difference of a family's members from another system.

    Reproduced if one interval lies wholly on the claimed side and its randomisation test, adjusted
    by Holm's rule for all members, is below .05; contradicted if all intervals lie on the other.

    Args:
        store: the study's systems.
        collection: the folder's name of a collection.
        column: judgements and measure.
        check: `of` chooses the family, `over` the other system; `side` and `threshold`.

    Raises:
        NotRunError: saying what the study lacks.
    """
    found = []
    for members in _by_place(_members(store, collection, column, check)).values():
        adjusted = holm([each.p_randomisation for each in members])
        verdicts = [judge(m.low, m.high, check["side"], check["threshold"]) for m in members]
        clear = [v == REPRODUCED and p < LEVEL for v, p in zip(verdicts, adjusted, strict=True)]
        verdict = CONTRADICTED if set(verdicts) == {CONTRADICTED} else INCONCLUSIVE
        number = int(np.argmin([member.effect for member in members]))
        if any(clear):
            verdict, number = REPRODUCED, clear.index(True)
        lowest = replace(members[number], p_randomisation=float(adjusted[number]))
        found.append(_of_family(lowest, members, verdict))
    return found


def _share(
    store: Store, column: tuple[str, str], of: Ranked, over: Ranked, goal: Ranked
) -> Finding:
    systems = [of, over, goal]
    whole = contrast(store, column, [(1.0, goal), (-1.0, over)], about(goal, over))
    found = resample([store.frame(ranked, *column) for ranked in systems])
    first, start, end = (float(means.mean()) for means in found.by_seed)
    told = about(of, over) | {"systems": f"{of.method} between {over.method} and {goal.method}"}
    low = high = effect = math.nan
    reason = f"the gap itself, {whole.effect:+.4f} [{whole.low:+.4f}, {whole.high:+.4f}], holds 0"
    if whole.low > 0 or whole.high < 0:
        drawn = (found.drawn[:, 0] - found.drawn[:, 1]) / (found.drawn[:, 2] - found.drawn[:, 1])
        low, high = (float(q) for q in np.quantile(drawn, [OUTSIDE, 1 - OUTSIDE]))
        effect, reason = (first - start) / (end - start), ""
    seeds = min(len(m) for m, ranked in zip(found.by_seed, systems, strict=True) if ranked.trained)
    sources = tuple(ranked.id for ranked in systems)
    counts = (seeds, whole.queries, whole.groups)
    return Finding(effect, low, high, *counts, about=told, sources=sources, reason=reason)


def _members(
    store: Store, collection: str, column: tuple[str, str], check: Check
) -> list[tuple[tuple[str, ...], Finding]]:
    """Return the finding of each member with the place (pool, retriever, ranker) that it is of."""
    return [
        (_place(a), contrast(store, column, [(1.0, a), (-1.0, b)], about(a, b)))
        for a, b in pairs(store, collection, check)
    ]


def _by_place(
    members: list[tuple[tuple[str, ...], Finding]],
) -> dict[tuple[str, ...], list[Finding]]:
    families: dict[tuple[str, ...], list[Finding]] = {}
    for place, finding in members:
        families.setdefault(place, []).append(finding)
    return families


def _place(ranked: Ranked) -> tuple[str, ...]:
    return (ranked.pool, ranked.retriever, ranked.ranker)


def _of_family(shown: Finding, members: list[Finding], verdict: str) -> Finding:
    """Return a member's finding as that of its family."""
    sources = tuple(dict.fromkeys(source for each in members for source in each.sources))
    count = f" (of {len(members)})" if len(members) > 1 else ""
    told = shown.about | {"systems": shown.about["systems"] + count}
    seeds = min(each.seeds for each in members)
    return replace(shown, about=told, seeds=seeds, sources=sources, verdict=verdict)
