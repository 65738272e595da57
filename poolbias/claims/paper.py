"""The paper's number for a claim, from `config/paper_tables.tsv`."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import pandas as pd

_NAMES = {"RR": "MRR", "R": "Recall"}


def paper_number(
    paper: pd.DataFrame,
    said: Mapping[str, Any] | None,
    collection: str,
    measure: str,
    names: Mapping[str, str],
) -> str:
    """Return the number as printed, or the difference of two printed ones; empty if there is none.

    Args:
        paper: columns of `config/paper_tables.tsv`, all text.
        said: the claim's `paper`: systems `of` and `over` in the paper's words, and `measure`.
        collection: the collection's name without a split.
        measure: as ir-measures spells it.
        names: what is filled in for `{of}`, `{over}` and `{ranker}`.
    """
    if not said:
        return ""
    name, at, cut = measure.partition("@")
    spelled = said["measure"] or f"{_NAMES.get(name, name)}{at}{cut}"
    rows = paper[
        (paper["collection"].str.partition("/")[0] == collection)
        & (paper["measure"] == spelled)
        & (paper["value"] != "")
    ]
    first = _first(rows, said["of"], names)
    if not said["over"]:
        return first
    second = _first(rows, said["over"], names)
    return f"{Decimal(first) - Decimal(second):+}" if first and second else ""


def _first(rows: pd.DataFrame, systems: Sequence[str], names: Mapping[str, str]) -> str:
    """Return the value of the first of these systems that the paper has."""
    for system in _filled(systems, names):
        found = rows.loc[rows["system"] == system, "value"]
        if len(found):
            return str(found.iloc[0])
    return ""


def _filled(systems: Iterable[str], names: Mapping[str, str]) -> list[str]:
    return [system.format(**names) for system in systems]
