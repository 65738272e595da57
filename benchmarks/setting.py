"""What every area of the benchmark is given, and what it gives back."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from benchmarks.timing import Ratio


@dataclass(frozen=True)
class Setting:
    """How to measure.

    Attributes:
        texts: the folder that `benchmarks.texts.built` made.
        repeats: rounds of each comparison.
        threads: of every computation.
        quick: whether to measure as little as shows that everything runs.
    """

    texts: Path
    repeats: int
    threads: int
    quick: bool = False

    def at_most(self, count: int) -> int:
        """Return a count of things to measure, a sixteenth of it (or 1) in a quick run."""
        return max(1, count // 16) if self.quick else count


@dataclass(frozen=True)
class Outcome:
    """What an area found: ratios, and tables by the name of their file."""

    ratios: list[Ratio] = field(default_factory=list)
    tables: dict[str, pd.DataFrame] = field(default_factory=dict)


Area = Callable[[Setting], Outcome]
