"""What several figures share: reading their tables, writing numbers, saying what was not run."""

import math
import textwrap
from collections.abc import Sequence
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.textpath import TextPath

from poolbias.errors import DataError
from poolbias.figures import style
from poolbias.formats.tsv import read_table

TRUTH, LABELS = "truth", "labels"
NOT_RUN = "not run"
SMALL = 6.5  # points
_LINE = 140  # letters of a caption's line at that size
DOT: dict[str, Any] = {"marker": "o", "mfc": "white", "mec": "black", "ms": 3, "mew": 0.6, "ls": ""}


def read_data(
    path: Path | str, columns: Sequence[str], numbers: Sequence[str], counts: Sequence[str]
) -> pd.DataFrame:
    """Read the table of a figure as it was built.

    Args:
        path: what `write_table` wrote.
        columns: all of its columns.
        numbers: those that hold numbers (float64; empty is NaN, `inf` is read).
        counts: those that hold whole numbers (Int64; empty is missing).

    Raises:
        DataError: naming the file if a column is missing or a number is not one.
    """
    frame = read_table(path, list(columns))[list(columns)]
    try:
        for column in [*numbers, *counts]:
            found = pd.to_numeric(frame[column].where(frame[column] != ""))
            frame[column] = found.astype("Int64" if column in counts else "float64")
    except (ValueError, TypeError) as error:
        raise DataError(f"{path}: {error}; make the table again.") from error
    return frame


def number(value: float, digits: int = 3, sign: bool = False) -> str:
    """Return a number without its leading zero (`.785`, `-.012`, with `sign` `+.012`)."""
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    text = f"{value:{'+' if sign else ''}.{digits}f}"
    for mark in ("", "-", "+"):
        if text.startswith(f"{mark}0."):
            text = mark + text.removeprefix(f"{mark}0")
    return text.replace("-", "−")


def letter(number: int) -> str:
    """Return the letter of a figure's panel: 0 is a, 25 is z, 26 is a1."""
    row, column = divmod(number, len(ascii_lowercase))
    return ascii_lowercase[column] + (str(row) if row else "")


def spread(counts: "pd.Series[int]") -> str:
    """Return the least and the greatest of [counts] (`453 to 1,678`), or the one that all are."""
    low, high = counts.min(), counts.max()
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def told_seeds(seeds: int, dots: bool = True) -> str:
    """Return what a caption says of the number of seeds behind what it shows."""
    if seeds == 1:
        return "one seed only, so the whiskers do not hold the variation between seeds"
    return f"mean of {seeds} seeds{', dots: single seeds' if dots else ''}"


def told_interval(groups: "pd.Series[int]", seeds: int) -> str:
    """Return what a caption says of the whiskers of means over [groups] and seeds."""
    also = " and over seeds" if seeds > 1 else ""
    return f"95% bootstrap interval over {spread(groups)} groups of queries{also}"


def write(axis: Axes, x: float, y: float, text: str, lacking: bool = False) -> None:
    """Write a small text that begins at a point; in grey italics where something is lacking."""
    look = {"style": "italic", "color": style.GREY} if lacking else {"color": style.BLACK}
    ground = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}  # above lines of the grid
    axis.text(x, y, text, va="center", fontsize=SMALL, fontdict=look, bbox=ground)


def say(axis: Axes, text: str) -> None:
    """Write in the middle of an empty panel why nothing is shown."""
    look = {"style": "italic", "color": style.GREY, "fontsize": SMALL}
    filled = textwrap.fill(text, 34)
    axis.text(0.5, 0.5, filled, transform=axis.transAxes, ha="center", va="center", fontdict=look)


def whisker(axis: Axes, row: dict[Any, Any], place: float, colour: str, up: bool = False) -> None:
    """Draw the interval `low` to `high` of a row about its `value`, lying, or `up` at an x."""
    bounds = [[row["value"] - row["low"]], [row["high"] - row["value"]]]
    look: dict[str, Any] = {"fmt": "none", "ecolor": colour, "lw": 0.8, "capsize": 1.8}
    if up:
        axis.errorbar(place, row["value"], yerr=bounds, **look)
    else:
        axis.errorbar(row["value"], place, xerr=bounds, **look)


def add_caption(figure: Figure, text: str) -> None:
    """Write a figure's caption below its panels, in lines that end within it."""
    room = 0.976 * 72 * figure.get_figwidth()  # points
    letters = _LINE
    filled = textwrap.fill(text, letters)
    while letters > _LINE // 2 and _width(filled) > room:  # capitals are wider than most
        letters -= 2
        filled = textwrap.fill(text, letters)
    figure.supxlabel(filled, x=0.012, ha="left", fontsize=SMALL, color=style.GREY)


def _width(lines: str) -> float:
    """Return the width of the longest line of a small text, in points."""
    paths = [TextPath((0, 0), line, size=SMALL) for line in lines.splitlines()]
    return float(max((path.get_extents().width for path in paths), default=0.0))
