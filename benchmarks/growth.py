"""Growth: seconds and peak memory against size, with the exponent that fits them."""

from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.costs import MEMORY, SECONDS, Cost
from benchmarks.setting import Outcome, Setting
from benchmarks.timing import Work, here, rounds
from benchmarks.workers import Side, measure

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")
COLUMNS = [
    "measured",
    "cost",
    "against",
    "least",
    "most",
    "at_least",
    "at_most",
    "exponent",
    "expected",
]


def exponent(sizes: list[int], values: list[float]) -> float:
    """Return a where `values` grow as sizes^a: the least-squares slope of their logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def expected(cost: Cost, sizes: list[int]) -> float:
    """Return the exponent that theory expects over these sizes."""
    if callable(cost.expected):
        return exponent(sizes, [cost.expected(size) for size in sizes])
    return cost.expected


def growth(setting: Setting) -> Outcome:
    """Fit how seconds and memory grow.

    The table's columns are measured (`seconds`, or `MiB` beyond what was held before), cost,
    against, least and most (sizes), at_least and at_most (what was measured there), exponent and
    expected.
    """
    rows = []
    for cost in SECONDS:
        sizes = cost.sizes[:3] if setting.quick else cost.sizes
        side = Side(partial(_seconds, cost, sizes, setting), ours=True)
        rows.append(_row("seconds", cost, sizes, measure(side, setting.threads)))
    for cost in MEMORY if STATUS.exists() and CLEAR.exists() else []:
        sizes = cost.sizes[:2] if setting.quick else cost.sizes
        found = [
            measure(Side(partial(_memory, cost, size, setting.texts), ours=True), setting.threads)
            for size in sizes
        ]
        rows.append(_row("MiB", cost, sizes, found))
    return Outcome(tables={"growth": pd.DataFrame(rows, columns=COLUMNS)})


def _row(measured: str, cost: Cost, sizes: list[int], found: list[float]) -> list[object]:
    ends = [sizes[0], sizes[-1], found[0], found[-1]]
    # what needs less than a MiB is flat, however its digits grow
    fitted = exponent(
        sizes, [max(value, 1e-9 if measured == "seconds" else 1.0) for value in found]
    )
    return [measured, cost.what, cost.against, *ends, fitted, expected(cost, sizes)]


def _seconds(cost: Cost, sizes: list[int], setting: Setting) -> Work:
    """Return a work that returns the median seconds of each size."""
    works = here({str(size): cost.work(setting.texts, size) for size in sizes})

    def work() -> list[float]:
        found = rounds(works, min(setting.repeats, 5))
        return [found.median(name) for name in works]

    return work


def _memory(cost: Cost, size: int, folder: Path) -> Work:
    """Return a work that returns the peak memory of a size, in MiB beyond what was held before."""
    one = cost.work(folder, size)

    return lambda: peak_of(one) * 10**6 / 2**20


def peak_of(work: Work) -> float:
    """Call a work and return its peak memory, in MB beyond what was held before."""
    CLEAR.write_text("5")  # the peak starts anew (proc(5))
    before = _kibibytes("VmRSS")
    work()
    return (_kibibytes("VmHWM") - before) * 1024 / 10**6


def _kibibytes(name: str) -> int:
    """Return a number of this process' memory, as the system tells it."""
    lines = STATUS.read_text(encoding="ascii").splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith(f"{name}:")))
