"""Means of ranked systems, with intervals that hold the variation of groups and of seeds."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from poolbias.errors import DataError
from poolbias.evaluation.resampling import drawn_groups

Floats = npt.NDArray[np.float64]
OUTSIDE = 0.025  # on either side of a 95% interval
_SEEDS = 1  # second half of Philox's key; 0 draws the groups


class Mean(NamedTuple):
    """A mean over queries, seeds averaged, with its 95% interval and what it rests on."""

    mean: float
    low: float
    high: float
    queries: int
    groups: int
    seeds: int


class Resampled(NamedTuple):
    """Means of several systems, and what they are in each resample.

    Attributes:
        by_seed: per system the mean of each seed, float64 [seeds], in the order of the seeds.
        drawn: float64 [resamples, systems]; NaN where no query of a system was drawn.
    """

    by_seed: list[Floats]
    drawn: Floats


def resample(
    systems: Sequence[pd.DataFrame], *, seed: int = 0, resamples: int = 2000, apart: bool = False
) -> Resampled:
    """Return means of systems with the same groups and seeds drawn for all of them.

    Groups are drawn with replacement, and separately seeds, n − 1 of n, which makes the variance of
    their mean unbiased (the pigeonhole bootstrap; Owen 2007, The Annals of Applied Statistics 1(2);
    Rao and Wu 1988, JASA 83). One seed contributes no variation.

    Args:
        systems: frames with columns `query_id`, `group`, `seed`, `value`, a row per query and seed.
        seed: key of the draws.
        resamples: how many resamples are drawn.
        apart: whether the seeds of each system are drawn on their own.

    Raises:
        DataError: naming the first query that was not measured for every seed of its system.
        ValueError: if a system has no rows.
    """
    names = sorted({str(group) for system in systems for group in system["group"].unique()})
    tables = [_sums(system, names) for system in systems]
    shares = [
        _shares(sums.shape[1], resamples, seed, _SEEDS + place * apart)
        for place, (sums, _) in enumerate(tables)
    ]
    drawn, start = [], 0
    for groups in drawn_groups(len(names), resamples, seed=seed):
        counts = _counts(groups)
        rows = slice(start, start + len(groups))
        drawn.append(
            np.stack(
                [
                    _divided(((counts @ sums) * share[rows]).sum(1), counts @ sizes)
                    for (sums, sizes), share in zip(tables, shares, strict=True)
                ],
                axis=1,
            )
        )
        start += len(groups)
    by_seed = [sums.sum(axis=0) / sizes.sum() for sums, sizes in tables]
    return Resampled(by_seed, np.concatenate(drawn))


def mean(system: pd.DataFrame, *, seed: int = 0, resamples: int = 2000) -> Mean:
    """Return the mean of one system with its percentile interval over groups and seeds.

    Args:
        system: as one of the `systems` of `resample`.
        seed: as in `resample`.
        resamples: as in `resample`.

    Raises:
        DataError: as `resample`.
        ValueError: if there are no rows.
    """
    found = resample([system], seed=seed, resamples=resamples)
    low, high = np.quantile(found.drawn[:, 0], [OUTSIDE, 1 - OUTSIDE])
    return Mean(
        mean=float(found.by_seed[0].mean()),
        low=float(low),
        high=float(high),
        queries=system["query_id"].nunique(),
        groups=system["group"].nunique(),
        seeds=len(found.by_seed[0]),
    )


def _sums(system: pd.DataFrame, names: list[str]) -> tuple[Floats, Floats]:
    """Return sums of values per group and seed, [groups, seeds], and queries per group."""
    if system.empty:
        raise ValueError("a mean needs at least one row")
    table = system.pivot(index="query_id", columns="seed", values="value").sort_index(axis=1)
    lacking = table.isna().any(axis=1)
    if lacking.any():
        raise DataError(
            f"query {table.index[lacking][0]} was not measured for all {table.shape[1]} seeds; "
            "evaluate all seeds on the same queries."
        )
    of_query = dict(
        zip(system["query_id"].tolist(), map(str, system["group"].tolist()), strict=True)
    )
    table = table.sort_index()
    codes = pd.Index(names).get_indexer(pd.Index([of_query[query] for query in table.index]))
    values = table.to_numpy(np.float64)
    sums = [np.bincount(codes, weights=column, minlength=len(names)) for column in values.T]
    sizes = np.bincount(codes, minlength=len(names)).astype(np.float64)
    return np.stack(sums, axis=1), sizes


def _shares(seeds: int, resamples: int, seed: int, stream: int) -> Floats:
    """Return the share of each seed in each resample, [resamples, seeds]."""
    if seeds == 1:
        return np.ones((resamples, 1))
    key = np.array([seed, stream], dtype=np.uint64)
    drawn = np.random.Generator(np.random.Philox(key=key)).integers(
        seeds, size=(resamples, seeds - 1)
    )
    return np.asarray((drawn[:, :, None] == np.arange(seeds)).mean(axis=1))


def _counts(groups: npt.NDArray[np.int64]) -> Floats:
    """Return how often each group was drawn in each resample, [resamples, groups]."""
    rows, count = groups.shape
    flat = (groups + np.arange(rows)[:, None] * count).ravel()
    return np.bincount(flat, minlength=rows * count).reshape(rows, count).astype(np.float64)


def _divided(sums: Floats, sizes: Floats) -> Floats:
    return np.divide(sums, sizes, out=np.full_like(sums, np.nan), where=sizes > 0)
