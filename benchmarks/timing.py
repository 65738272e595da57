"""Interleaved timing: whatever slows the machine down slows both sides of a ratio."""

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np

Work = Callable[[], Any]


class Taken(NamedTuple):
    """One call of a work: its wall seconds, and what it returned."""

    seconds: float
    result: Any


Timed = Callable[[], Taken]


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


@dataclass
class Rounds:
    """What each work took and returned, by its name, a value per round."""

    seconds: dict[str, list[float]] = field(default_factory=dict)
    results: dict[str, list[Any]] = field(default_factory=dict)

    def median(self, name: str) -> float:
        """Return the median seconds of a work."""
        return float(np.median(self.seconds[name]))

    def rate(self, name: str, count: float, unit: str) -> str:
        """Return a work's median rate for people: `count` things of a `unit` per call."""
        return f"{count / self.median(name):,.0f} {unit}/s"


def timed(work: Work) -> Taken:
    """Return how long one call takes, garbage collected before it, and what it returned."""
    gc.collect()
    start = time.perf_counter()
    result = work()
    return Taken(time.perf_counter() - start, result)


def here(works: dict[str, Work]) -> dict[str, Timed]:
    """Return works that are timed in this process; `workers` has those of other processes."""
    return {name: partial(timed, work) for name, work in works.items()}


def rounds(works: dict[str, Timed], repeats: int) -> Rounds:
    """Return what every round took: it calls each work once, in turn.

    Every other round goes backwards, so that nothing always comes before the same thing. A call of
    each before the first round is thrown away.
    """
    for work in works.values():
        work()
    found = Rounds({name: [] for name in works}, {name: [] for name in works})
    for number in range(repeats):
        names = list(works)
        for name in names if number % 2 == 0 else reversed(names):
            taken = works[name]()
            found.seconds[name].append(taken.seconds)
            found.results[name].append(taken.result)
    return found


def ratio(
    name: str, ours: list[float], other: list[float], target: float | None = None, note: str = ""
) -> Ratio:
    """Return the ratio of seconds, other over ours, round by round."""
    return of_rounds(name, list(np.asarray(other) / np.asarray(ours)), target, note)


def of_rounds(name: str, values: list[float], target: float | None = None, note: str = "") -> Ratio:
    """Return the median and the quartiles of a ratio's value in each round."""
    low, median, high = np.quantile(values, [0.25, 0.5, 0.75])
    return Ratio(name, float(median), float(low), float(high), target, note)
