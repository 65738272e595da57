"""Interleaved timing: whatever slows the machine down slows both sides of a ratio."""

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Work = Callable[[], object]


@dataclass(frozen=True)
class Ratio:
    """How many times as fast one thing is as another.

    Attributes:
        name: what is compared, `area: ours / other`.
        median: of the rounds' ratios, above 1 where ours is faster.
        low: the lower quartile.
        high: the upper quartile.
        target: the least that the project asks for; None where it asks for nothing.
        note: absolute figures, for people.
    """

    name: str
    median: float
    low: float
    high: float
    target: float | None = None
    note: str = ""

    @property
    def reached(self) -> bool | None:
        """Whether the median reaches the target; None without one."""
        return None if self.target is None else self.median >= self.target


def seconds(work: Work) -> float:
    """Return how long one call takes, garbage collected before it, in seconds."""
    gc.collect()
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def rounds(works: dict[str, Work], repeats: int) -> dict[str, list[float]]:
    """Return the seconds of each work in each round: every round calls each once, in turn.

    A call of each before the first round is thrown away.
    """
    for work in works.values():
        work()
    found: dict[str, list[float]] = {name: [] for name in works}
    for number in range(repeats):
        names = list(works)
        for name in names if number % 2 == 0 else reversed(names):
            found[name].append(seconds(works[name]))
    return found


def ratio(
    name: str, ours: list[float], other: list[float], target: float | None = None, note: str = ""
) -> Ratio:
    """Return the ratio of seconds, other over ours, round by round."""
    values = np.asarray(other) / np.asarray(ours)
    low, median, high = np.quantile(values, [0.25, 0.5, 0.75])
    return Ratio(name, float(median), float(low), float(high), target, note)


def per_second(count: float, times: list[float]) -> str:
    """Return a median rate for people."""
    return f"{count / float(np.median(times)):,.0f}/s"
