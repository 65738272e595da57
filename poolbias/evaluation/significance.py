"""Is one system better than another: tests, an interval of the difference, what could be seen.

Seeds are averaged per query first. Queries of one group (a term of the ontology) move together, so
the interval and the randomisation test resample groups; only the t-test takes queries as they are.
"""

from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import stdtr

from poolbias.errors import DataError
from poolbias.evaluation.means import resample

Floats = npt.NDArray[np.float64]
LEVEL, POWER = 0.05, 0.8
_EXACT = 12  # groups up to which all 2^n sign flips are enumerated: 4,096
_FLIPS = 19_999  # sampled flips otherwise: the smallest p is 1/20,000, small enough for Holm's rule
_BLOCK = 4_000_000  # signs held at once
_SIGNS = 2**32  # second half of Philox's key; smaller ones draw groups and seeds


class Comparison(NamedTuple):
    """A difference of two systems' means, how sure it is, and what it rests on.

    Attributes:
        difference: mean of a less mean of b, over queries, seeds averaged per query.
        low: lower bound of the 95% interval, from groups and seeds together.
        high: upper bound of it.
        p_t: two-sided paired t-test over queries.
        p_randomisation: two-sided randomisation test that flips the signs of whole groups.
        smallest_detectable: true difference that such a comparison finds with 80% power at the
            two-sided level .05; NaN with one group.
        queries: number of queries.
        groups: number of groups.
        seeds: number of seeds, of the system with fewer.
    """

    difference: float
    low: float
    high: float
    p_t: float
    p_randomisation: float
    smallest_detectable: float
    queries: int
    groups: int
    seeds: int


def compare(
    a: pd.DataFrame,
    b: pd.DataFrame,
    *,
    seed: int = 0,
    resamples: int = 2000,
    names: tuple[str, str] = ("the first system", "the second system"),
) -> Comparison:
    """Compare two systems that were measured on the same queries.

    The tests are about the rankers at hand: seeds are averaged per query, and queries or groups
    vary. The interval, and with it the smallest detectable difference, also holds how rankers vary
    from seed to seed: groups are drawn for both, seeds for each apart, as
    `poolbias.evaluation.means.resample` says; a system with one seed adds no variation of seeds.

    Args:
        a: columns `query_id`, `group`, `seed`, `value`; a row per query and seed.
        b: as a.
        seed: key of all draws; they depend on it and on the numbers of groups and seeds alone.
        resamples: number of resampled differences behind the interval.
        names: what to call the two in messages.

    Raises:
        DataError: naming the first query that only one of them has, that is not measured for every
            seed or twice for one, or that belongs to different groups.
    """
    first, second = _system(a, names[0]), _system(b, names[1])
    _check_alike(first, second, names)
    codes, groups = pd.factorize(np.array(first.groups), sort=True)
    means = first.values.mean(axis=1) - second.values.mean(axis=1)
    resampled = resample([a, b], seed=seed, resamples=resamples, apart=True).drawn
    drawn = resampled[:, 0] - resampled[:, 1]
    low, high = np.quantile(drawn, [LEVEL / 2, 1 - LEVEL / 2])
    normal = NormalDist()
    factor = normal.inv_cdf(1 - LEVEL / 2) + normal.inv_cdf(POWER)
    enough = len(groups) > 1 and resamples > 1
    return Comparison(
        difference=float(means.mean()),
        low=float(low),
        high=float(high),
        p_t=paired_t(means),
        p_randomisation=sign_flips(np.bincount(codes, weights=means).astype(np.float64), seed=seed),
        smallest_detectable=float(factor * drawn.std(ddof=1)) if enough else float("nan"),
        queries=len(means),
        groups=len(groups),
        seeds=min(first.values.shape[1], second.values.shape[1]),
    )


def paired_t(differences: Floats) -> float:
    """Return the two-sided p of the paired t-test; 1 for one query, or if all differences are 0.

    Args:
        differences: float64 [queries].
    """
    count = len(differences)
    mean = float(differences.mean())
    if count < 2 or mean == 0:
        return 1.0
    error = float(differences.std(ddof=1)) / count**0.5
    return 2 * float(stdtr(count - 1, -abs(mean) / error)) if error > 0 else 0.0


def sign_flips(sums: Floats, *, seed: int = 0, flips: int = _FLIPS) -> float:
    """Return the two-sided p of a randomisation test that flips the sign of each group's sum.

    With up to 12 groups that differ from 0 all flips are enumerated, and p is the share of them
    whose sum is at least as far from 0 as the one found. Otherwise flips are drawn, and p is
    (1 + those) / (1 + all), so that it is valid and never 0 (Phipson and Smyth 2010, Statistical
    Applications in Genetics and Molecular Biology 9, article 39).

    Args:
        sums: float64 [groups], the differences of each group summed.
        seed: key of the draws.
        flips: number of flips that are drawn.
    """
    sums = sums[sums != 0]
    if not len(sums):
        return 1.0
    # a sum in another order differs in its last digits, and must still count as equal
    least = abs(sums.sum()) - 1e-9 * np.abs(sums).sum()
    if len(sums) <= _EXACT:
        signs = np.arange(2 ** len(sums))[:, None] >> np.arange(len(sums)) & 1
        return float((np.abs(sums.sum() - 2 * (signs @ sums)) >= least).mean())
    key = np.array([seed, _SIGNS], dtype=np.uint64)
    generator = np.random.Generator(np.random.Philox(key=key))
    width, extreme = -(-len(sums) // 32) * 4, 0  # whole words, so that blocks do not change draws
    for start in range(0, flips, size := max(1, _BLOCK // len(sums))):
        rows = min(size, flips - start)
        drawn = np.frombuffer(generator.bytes(rows * width), np.uint8).reshape(rows, width)
        flipped = np.unpackbits(drawn, axis=1, count=len(sums)).astype(np.float64) @ sums
        extreme += int((np.abs(sums.sum() - 2 * flipped) >= least).sum())
    return (1 + extreme) / (1 + flips)


def holm(values: Sequence[float] | Floats) -> Floats:
    """Return the p-values `values`, adjusted by Holm's rule for a family, float64 [tests].

    The i-th smallest of m is multiplied by m − i + 1 (i from 1), made no smaller than those before
    it and no larger than 1 (Holm 1979, Scandinavian Journal of Statistics 6).

    Raises:
        ValueError: if one of them is not between 0 and 1.
    """
    found = np.asarray(values, dtype=np.float64)
    if not ((found >= 0) & (found <= 1)).all():
        raise ValueError("p-values lie between 0 and 1")
    order = np.argsort(found, kind="stable")
    factors = np.arange(len(found), 0, -1)
    adjusted = np.empty_like(found)
    adjusted[order] = np.minimum(1, np.maximum.accumulate(found[order] * factors))
    return adjusted


class _System(NamedTuple):
    """Values [queries, seeds] with the queries' ids and groups, sorted by id."""

    values: Floats
    queries: list[str]
    groups: list[str]


def _system(frame: pd.DataFrame, name: str) -> _System:
    if frame.empty:
        raise DataError(f"{name} has no values; evaluate it with this measure.")
    twice = frame.duplicated(["query_id", "seed"])
    if twice.any():
        query = frame["query_id"][twice].iloc[0]
        raise DataError(f"query {query} is measured twice for {name}; keep one of its values.")
    values = frame.pivot(index="query_id", columns="seed", values="value").sort_index(axis=1)
    if values.isna().to_numpy().any():
        query = values.index[values.isna().any(axis=1)][0]
        raise DataError(
            f"query {query} of {name} was not measured for all {values.shape[1]} seeds; evaluate "
            "all seeds on the same queries."
        )
    groups = dict(zip(frame["query_id"].tolist(), frame["group"].tolist(), strict=True))
    queries = [str(query) for query in values.index.tolist()]
    return _System(values.to_numpy(np.float64), queries, [str(groups[query]) for query in queries])


def _check_alike(a: _System, b: _System, names: tuple[str, str]) -> None:
    differing = sorted(set(a.queries) ^ set(b.queries))
    if differing:
        has, lacks = names if differing[0] in set(a.queries) else names[::-1]
        raise DataError(
            f"query {differing[0]} is missing from {lacks}, which {has} has; evaluate both on the "
            "same queries."
        )
    for query, first, second in zip(a.queries, a.groups, b.groups, strict=True):
        if first != second:
            raise DataError(
                f"query {query} is of group {first} for {names[0]} and {second} for {names[1]}; "
                "give both the queries of one collection."
            )
