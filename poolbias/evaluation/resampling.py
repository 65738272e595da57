"""Intervals by resampling groups: queries of one group share documents and move together."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

Floats = npt.NDArray[np.float64]
_BLOCK = 4_000_000  # drawn groups held at once: 32 MB


class Interval(NamedTuple):
    """A mean with the bounds of its interval, and how much it rests on."""

    mean: float
    low: float
    high: float
    rows: int
    groups: int


def interval(
    values: pd.DataFrame, *, seed: int = 0, resamples: int = 2000, level: float = 0.95
) -> Interval:
    """Return a mean over rows with its percentile bootstrap interval over groups.

    Groups are drawn with replacement, as many as there are, and each brings all its rows (the
    cluster bootstrap; Efron and Tibshirani 1993, chapter 13, for the percentiles).

    Args:
        values: columns `group` (the resampling unit, compared as text) and `value`.
        seed: key of the draws; draws depend on it and on the numbers of groups and resamples, not
            on the rows' order, so that systems measured on the same groups are resampled alike.
        resamples: number of resampled means.
        level: coverage, between 0 and 1.

    Raises:
        ValueError: if there are no rows.
    """
    ones = np.ones(len(values))
    return ratio(
        values[["group"]].assign(numerator=values["value"].to_numpy(np.float64), denominator=ones),
        seed=seed,
        resamples=resamples,
        level=level,
    )


def ratio(
    counts: pd.DataFrame, *, seed: int = 0, resamples: int = 2000, level: float = 0.95
) -> Interval:
    """Return sum of `numerator` over sum of `denominator` with its interval over groups.

    Args:
        counts: columns `group`, `numerator`, `denominator` (not negative).
        seed: as in `interval`.
        resamples: as in `interval`; those whose denominators sum to 0 are left out.
        level: as in `interval`.

    Returns:
        Mean and bounds are NaN if all denominators are 0.

    Raises:
        ValueError: if there are no rows.
    """
    if counts.empty:
        raise ValueError("an interval needs at least one row")
    numerators, denominators = _sums(counts)
    groups = len(numerators)
    if denominators.sum() == 0:
        return Interval(np.nan, np.nan, np.nan, len(counts), groups)
    mean = float(numerators.sum() / denominators.sum())
    means = [
        _means(numerators, denominators, drawn)
        for drawn in drawn_groups(groups, resamples, seed=seed)
    ]
    outside = (1 - level) / 2
    low, high = np.quantile(np.concatenate(means), [outside, 1 - outside])
    return Interval(mean, float(low), float(high), len(counts), groups)


def drawn_groups(groups: int, resamples: int, *, seed: int = 0) -> Iterator[npt.NDArray[np.int64]]:
    """Yield the groups of each resample in blocks, int64 [block, groups], keyed by `seed`."""
    generator = np.random.Generator(np.random.Philox(key=seed))
    for size in _blocks(resamples, groups):
        yield generator.integers(groups, size=(size, groups))


def _sums(counts: pd.DataFrame) -> tuple[Floats, Floats]:
    """Sum per group, groups in text order; within a group in ascending order, to fix rounding."""
    columns = ["numerator", "denominator"]
    ordered = counts.assign(group=counts["group"].astype("str")).sort_values(["group", *columns])
    sums = ordered.groupby("group", sort=False)[columns].sum()
    return sums["numerator"].to_numpy(np.float64), sums["denominator"].to_numpy(np.float64)


def _blocks(resamples: int, groups: int) -> list[int]:
    size = max(1, _BLOCK // groups)
    return [min(size, resamples - start) for start in range(0, resamples, size)]


def _means(numerators: Floats, denominators: Floats, drawn: npt.NDArray[np.int64]) -> Floats:
    totals = denominators[drawn].sum(axis=1)
    sums = numerators[drawn].sum(axis=1)
    return np.asarray(sums[totals > 0] / totals[totals > 0])
