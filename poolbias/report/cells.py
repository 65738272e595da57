"""Tables of the report: cells with a text, a link and a key to sort by."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from poolbias.claims.render import number
from poolbias.report.witnesses import Link, Witnesses, system_id

_ABOUT = ("collection", "pool", "retriever", "method", "ranker")


@dataclass(frozen=True)
class Cell:
    """A cell; `below` stands in small letters under its text, `links` after it."""

    text: str
    href: str = ""
    key: str = ""
    below: str = ""
    links: tuple[Link, ...] = ()
    kind: str = ""  # a class of the style sheet: `number`, `verdict-…`


@dataclass
class Table:
    """A table with a caption; the first `heads` cells of a row name it."""

    name: str
    caption: str
    headings: Sequence[str]
    rows: list[list[Cell]] = field(default_factory=list)
    heads: int = 1


def of_number(value: Any, href: str = "", below: str = "", signed: bool = False) -> Cell:
    """Return a cell of a number, which sorts by its value."""
    there = value is not None and not pd.isna(value)
    return Cell(number(value, signed), href if there else "", _key(value), below, kind="number")


def plain(name: str, caption: str, frame: pd.DataFrame) -> Table:
    """Return a frame (any columns, all text) as a table; what reads as a number sorts as one."""
    columns = [str(column) for column in frame.columns]
    rows = [
        [Cell(str(value), key=_key(value), kind=_kind(value)) for value in row]
        for row in frame.itertuples(index=False)
    ]
    return Table(name, caption, columns, rows, heads=0)


def wide(
    name: str,
    caption: str,
    frame: pd.DataFrame,
    witnesses: Witnesses,
    label: Callable[[Mapping[str, Any]], str] = lambda row: str(row["method"]),
) -> Table:
    """Return a row per system and a column per judgements and measure, each number with its files.

    Args:
        name: an id for the page.
        caption: what the table is of.
        frame: all text: columns of `poolbias.evaluation.summary.summarise_systems` or of
            `poolbias.tables.results.DATA` (`status` says why a number is not there, `mark` what
            tests found).
        witnesses: the files behind systems.
        label: returns a method with its options.
    """
    columns = list(dict.fromkeys(zip(frame["judgements"], frame["measure"], strict=True)))
    headings = [*_ABOUT, *(f"{measure} by {judgements}" for judgements, measure in columns)]
    table = Table(name, caption, [*headings, "seeds", "queries"], heads=len(_ABOUT))
    lines: dict[tuple[str, ...], dict[tuple[str, str], Mapping[Any, Any]]] = {}
    marks: dict[tuple[tuple[str, ...], tuple[str, str]], list[str]] = {}
    for row in frame.to_dict("records"):
        texts = {str(key): value for key, value in row.items()}
        system = texts | {"method": label(texts)}
        where = (str(texts["judgements"]), str(texts["measure"]))
        about = (system_id(system), *(str(system[key]) for key in _ABOUT))
        lines.setdefault(about, {}).setdefault(where, texts)
        marks.setdefault((about, where), []).append(str(texts.get("mark", "")))
    for about, found in lines.items():
        cells = [Cell(text, key=text) for text in about[1:]]
        href = witnesses.anchor(about[0])
        for where in columns:
            mark = "".join(dict.fromkeys(marks.get((about, where), [])))
            cells.append(_mean(found.get(where), href, mark))
        any_row = next(iter(found.values()))
        cells += [Cell(str(any_row[c]) or "–", key=_key(any_row[c])) for c in ("seeds", "queries")]
        table.rows.append(cells)
    return table


def _mean(row: Mapping[Any, Any] | None, href: str, mark: str) -> Cell:
    if row is None:
        return Cell("–")
    if not row["mean"]:
        return Cell(str(row.get("status", "")) or "–", kind="words")
    low, high = (number(float(row[end]), signed=False) for end in ("low", "high"))
    text = number(float(row["mean"]), signed=False) + mark
    return Cell(text, href, _key(row["mean"]), f"[{low}, {high}]", kind="number")


def _key(value: Any) -> str:
    """Return what a cell sorts by: a number's plain spelling, or lower-case text."""
    try:
        found = float(value)
    except (TypeError, ValueError):
        return "" if value is None or value is pd.NA else str(value).lower()
    return "" if pd.isna(found) else f"{found:.9g}"


def _kind(value: Any) -> str:
    try:
        float(value)
    except (TypeError, ValueError):
        return ""
    return "number"
