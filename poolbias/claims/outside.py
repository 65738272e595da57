"""Checks across collections, and of numbers that a figure's table holds already."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from poolbias.claims.comparisons import Check, about, pairs
from poolbias.claims.systems import Ranked, Store, base_name
from poolbias.claims.verdict import Finding, NotRunError
from poolbias.evaluation.means import OUTSIDE, Floats, resample


def gains(store: Store, collection: str, column: tuple[str, str], check: Check) -> list[Finding]:
    """Return the relative gain on one collection less that on another, per retriever.

    A relative gain is (of − over) / over. The two collections share no query, so groups and seeds
    are drawn for each by itself.

    Args:
        store: the study's systems.
        collection: the folder's name of a collection.
        column: judgements and measure.
        check: `of` and `over` choose the systems, `than` names the other collection.

    Raises:
        NotRunError: saying what the study lacks.
    """
    others = [name for name in store.collections if base_name(name) == check["than"]]
    if not others:
        raise NotRunError(f"the study has no collection {check['than']}")
    found = []
    for a, b in pairs(store, collection, check):
        for c, d in pairs(store, others[0], check):
            if (a.method, a.retriever, a.ranker) == (c.method, c.retriever, c.ranker):
                found.append(_gain(store, column, (a, b, c, d)))
    if not found:
        raise NotRunError(f"the study has no such pair on {others[0]} on the same retriever")
    return found


def reading(
    tables: Mapping[str, pd.DataFrame], collection: str, column: tuple[str, str], check: Check
) -> list[Finding]:
    """Return a finding per row of the table behind a figure that the claim is about.

    Args:
        tables: columns as the figure's stage wrote them, all text; a value with `low` and `high`.
        collection: the folder's name of a collection.
        column: judgements and measure; they choose rows where the table has such columns.
        check: `file` names the table, `where` its rows, `value` the column of the value.

    Raises:
        NotRunError: if there is no such table or row, or if it holds no number.
    """
    name, value = check["file"], check["value"]
    if name not in tables:
        raise NotRunError(f"the study makes no {name}.tsv")
    rows = tables[name]
    wanted = dict(zip(("judgements", "measure"), column, strict=True)) | {"collection": collection}
    wanted = {key: text for key, text in wanted.items() if key in rows} | check["where"]
    for key, text in wanted.items():
        if key not in rows:
            raise NotRunError(f"{name}.tsv has no column {key}")
        rows = rows[rows[key] == text]
    if rows.empty:
        told = ", ".join(f"{key} {text}" for key, text in wanted.items())
        raise NotRunError(f"{name}.tsv has no row with {told}")
    return [_of_row(row, value, name) for row in rows.to_dict("records")]


def _gain(
    store: Store, column: tuple[str, str], systems: tuple[Ranked, Ranked, Ranked, Ranked]
) -> Finding:
    frames = [store.frame(ranked, *column) for ranked in systems]
    values, drawn, seeds = [], [], []
    for key, (of, over) in enumerate((frames[:2], frames[2:])):
        found = resample([of, over], seed=key)
        first, second = (float(means.mean()) for means in found.by_seed)
        values.append((first - second) / second)
        drawn.append(_relative(found.drawn))
        seeds += [len(means) for means in found.by_seed]
    low, high = np.quantile(drawn[0] - drawn[1], [OUTSIDE, 1 - OUTSIDE])
    return Finding(
        effect=values[0] - values[1],
        low=float(low),
        high=float(high),
        seeds=min(seeds),
        queries=sum(frame["query_id"].nunique() for frame in frames[::2]),
        groups=sum(frame["group"].nunique() for frame in frames[::2]),
        about=about(systems[0], systems[1]),
        sources=tuple(ranked.id for ranked in systems),
    )


def _relative(drawn: Floats) -> Floats:
    return np.asarray((drawn[:, 0] - drawn[:, 1]) / drawn[:, 1])


def _of_row(row: Mapping[Any, Any], value: str, name: str) -> Finding:
    """Return the finding that a row of text holds."""
    status = str(row.get("status", ""))
    if not str(row[value]):
        raise NotRunError(f"{name}.tsv: {status or 'no value'}")
    told = {key: str(row.get(key, "")) or "-" for key in ("pool", "retriever", "ranker")}
    systems = str(row.get("method", "")) or name
    return Finding(
        effect=_number(row, value),
        low=_number(row, "low"),
        high=_number(row, "high"),
        seeds=_count(row, "seeds"),
        queries=_count(row, "queries"),
        groups=_count(row, "groups"),
        about=told | {"systems": systems},
    )


def _number(row: Mapping[Any, Any], key: str) -> float:
    text = str(row.get(key, ""))
    return float(text) if text else math.nan


def _count(row: Mapping[Any, Any], key: str) -> int:
    """Return a count, also where the numbers of seeds are listed (`1 2 3`)."""
    words = str(row.get(key, "")).split()
    if not words:
        return 0
    return int(words[0]) if len(words) == 1 else len(words)
