"""How much a measure varies over the values of an option: the paper's Figure 4."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from poolbias.errors import DataError
from poolbias.evaluation.means import OUTSIDE, resample

Floats = npt.NDArray[np.float64]


class Variance(NamedTuple):
    """The variance of a mean over the values of an option.

    Attributes:
        value: the variance over values that is left when `by_seeds` is taken off; not below 0.
        observed: the variance of the means, seeds averaged.
        by_seeds: the part of it that seeds alone would make; NaN with one seed (nothing is taken
            off then).
        points: number of values.
        seeds: number of seeds.
    """

    value: float
    observed: float
    by_seeds: float
    points: int
    seeds: int


class Ratio(NamedTuple):
    """One variance over another with its 95% interval; infinite if the other is 0."""

    value: float
    low: float
    high: float


def variance(means: Floats) -> Variance:
    """Return the variance over values of an option, with that of seeds taken off.

    The expectation of the observed variance of n-seed averages is the true one plus σ²/n. σ² is
    estimated as the residual mean square of values by seeds (two-way analysis of variance without
    replication), so that what a seed does to all values alike counts as neither.

    Args:
        means: float64 [points, seeds], the mean of each value and seed.

    Raises:
        ValueError: if there are fewer than two points.
    """
    points, seeds = means.shape
    if points < 2:
        raise ValueError("a variance needs at least two points")
    observed = float(means.mean(axis=1).var(ddof=1))
    if seeds == 1:
        return Variance(observed, observed, float("nan"), points, seeds)
    residual = means - means.mean(axis=1, keepdims=True) - means.mean(axis=0) + means.mean()
    by_seeds = float((residual**2).sum()) / ((points - 1) * (seeds - 1)) / seeds
    return Variance(max(0.0, observed - by_seeds), observed, by_seeds, points, seeds)


def ratio(
    a: Sequence[pd.DataFrame],
    b: Sequence[pd.DataFrame],
    *,
    seed: int = 0,
    resamples: int = 2000,
) -> tuple[Ratio, Variance, Variance]:
    """Return the variance over the points of `a` over that of `b`, and both variances.

    Groups and seeds are drawn together for all points. Resampling adds noise of its own to a
    variance, so the resampled variances are shifted to have the estimate as their mean, and cut
    at 0; the interval is that of their percentiles. Where both are 0 a resample says nothing.

    Args:
        a: a frame per value of the option: columns `query_id`, `group`, `seed`, `value`.
        b: as a, for the other option.
        seed: key of the draws.
        resamples: number of resamples.

    Raises:
        DataError: as `resample`, or if points of one option have different numbers of seeds.
        ValueError: if one has fewer than two points.
    """
    found = resample([*a, *b], seed=seed, resamples=resamples)
    variances, drawn = [], []
    for part in (slice(0, len(a)), slice(len(a), None)):
        by_seed = found.by_seed[part]
        if len({len(means) for means in by_seed}) > 1:
            raise DataError(
                f"values of one option have {sorted({len(means) for means in by_seed})} seeds, "
                "need the same number for each; evaluate all seeds."
            )
        variances.append(variance(np.stack(by_seed)))
        resampled = found.drawn[:, part].var(axis=1, ddof=1)
        shifted = resampled - resampled.mean() + variances[-1].value
        drawn.append(np.maximum(0.0, shifted))
    value = float(_over(np.array(variances[0].value), np.array(variances[1].value)))
    ratios = _over(*drawn)
    ratios = ratios[~np.isnan(ratios)]
    if not len(ratios):
        return Ratio(value, float("nan"), float("nan")), variances[0], variances[1]
    low = np.quantile(ratios, OUTSIDE, method="lower")  # not between a number and infinity
    high = np.quantile(ratios, 1 - OUTSIDE, method="higher")
    return Ratio(value, float(low), float(high)), variances[0], variances[1]


def _over(a: Floats, b: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(a / b)
