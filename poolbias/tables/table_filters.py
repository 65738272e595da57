"""The table of filters: what each choice of negatives keeps, and which false negatives it finds.

It is about the training candidates: a filter may remove much and find nothing, and measures of
rankers do not tell which.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import pandas as pd

from poolbias.errors import DataError
from poolbias.evaluation.resampling import ratio
from poolbias.filtering.counts import DRAWS
from poolbias.tables.pages import Page
from poolbias.tables.render import Cell, Heading, Line, Section, Table
from poolbias.tables.rows import METHODS

EVERYWHERE = "whole collection"  # instead of a retriever, where negatives come from no run
# Methods whose negatives differ from the others'; the rest share those of naive.
FILTERS = tuple(name for name in METHODS if name not in ("zhan", "dml", "cet", "cet_listwise"))
_OF_RUN = [name for name in FILTERS if name != "random"]
SHARES = {
    "false_negative_share_before": ("false_negatives", "candidates"),
    "false_negative_share_after": ("false_negatives_kept", "kept"),
    DRAWS: (DRAWS, "trained"),
    "removed_precision": ("false_negatives_removed", "removed"),
    "removed_recall": ("false_negatives_removed", "false_negatives"),
}
_HEADINGS = (
    Heading("retriever"),
    Heading("method"),
    Heading("queries", "candidates"),
    Heading("left with none", "candidates"),
    Heading("kept", "candidates"),
    Heading("removed", "candidates"),
    Heading("before", "false negatives"),
    Heading("after", "false negatives"),
    Heading("of draws", "false negatives"),
    Heading("precision", "at finding them"),
    Heading("recall", "at finding them"),
)
_NOTES = (
    "Training queries with a label; their unlabelled candidates. A query left with none is not "
    "trained on.",
    "Before, after: the share of candidates that are false negatives; of draws: the probability "
    "that a drawn negative is one, a mean over the queries trained on.",
    "Precision: the share of false negatives among the removed. Recall: the share of the false "
    "negatives that is removed. –: nothing is removed, or the truth is not known. A filter that "
    "removes at random has the share before as its precision. rance and simans weigh candidates "
    "rather than remove them: what they do is seen in the draws.",
    "In brackets: 95% intervals over groups of queries. The candidates do not depend on a seed of "
    "training, but for the teacher's, which is one.",
)


@dataclass(frozen=True)
class Filter:
    """One candidates table: what made it, and its counts (`poolbias.filtering.counts.count`).

    Attributes:
        collection: folder's name.
        pool: name in the study.
        retriever: name in the study, or `EVERYWHERE`.
        name: bare name of the first method that draws from it.
        method: that method's label.
        shared: bare names of all methods that draw from it.
        counts: columns of `count`, and `group`; None where it was not made.
        reason: why it was not.
    """

    collection: str
    pool: str
    retriever: str
    name: str
    method: str
    shared: tuple[str, ...] = ()
    counts: pd.DataFrame | None = None
    reason: str = ""


def filters_of(
    told: Sequence[Mapping[str, Any]], counts: Sequence[pd.DataFrame], queries: pd.DataFrame
) -> list[Filter]:
    """Return the candidates tables of a study.

    Args:
        told: what made each: the first six attributes of `Filter`; a retriever of None is
            `EVERYWHERE`.
        counts: of each, columns as `count` returns them.
        queries: columns collection, query_id and group.

    Raises:
        DataError: naming a query that `queries` does not hold.
    """
    found = []
    for about, table in zip(told, counts, strict=True):
        group = queries.loc[queries["collection"] == about["collection"], ["query_id", "group"]]
        joined = table.merge(group, on="query_id", how="left")
        if joined["group"].isna().any():
            query = joined.loc[joined["group"].isna(), "query_id"].iloc[0]
            raise DataError(
                f"query {query} of {about['method']} is not among the queries of "
                f"{about['collection']}; use the queries of this collection."
            )
        own = {"retriever": about["retriever"] or EVERYWHERE, "shared": tuple(about["shared"])}
        found.append(Filter(**{**about, **own}, counts=joined))
    return found


def table_filters(
    found: Sequence[Filter], *, study: str, lexical: Sequence[str], reason: str
) -> Page:
    """Return the table of filters; methods that the study lacks stand as `not run` in it.

    Args:
        found: the candidates tables of the study.
        study: its name.
        lexical: retrievers under which methods that were not run are not listed.
        reason: why a method was not run.
    """
    rows = list(_in_order(found, lexical, reason))
    data = pd.DataFrame([_numbers(row) for row in rows])
    sections = []
    blocks = dict.fromkeys((row.collection, row.pool) for row in rows)
    for (collection, pool), part in groupby(rows, lambda row: (row.collection, row.pool)):
        lines, last = [], None
        for row in part:
            lines.append(Line(_cells(row), rule=row.retriever != last))
            last = row.retriever
        title = f"{collection}, pool {pool}" if len(blocks) > 1 else ""
        sections.append(Section(title, tuple(lines)))
    notes = list(_NOTES)
    shared = {name: row.name for row in found for name in row.shared if name != row.name}
    notes += [f"{name} draws from the candidates of {other}." for name, other in shared.items()]
    table = Table(
        "table_filters",
        f"Filters. Study {study}: what each choice of negatives leaves of the candidates.",
        _HEADINGS,
        tuple(sections),
        2,
        tuple(notes),
    )
    return Page(data, (table,), {})


def _in_order(found: Sequence[Filter], lexical: Sequence[str], reason: str) -> Iterator[Filter]:
    """Yield the filters block by block, by retriever and method, with those that are not there."""
    blocks = list(dict.fromkeys((row.collection, row.pool) for row in found))
    for block in blocks:
        here = [row for row in found if (row.collection, row.pool) == block]
        retrievers = dict.fromkeys(row.retriever for row in here if row.retriever != EVERYWHERE)
        for retriever in [*sorted(retrievers, key=lambda name: name not in lexical), EVERYWHERE]:
            expected = ["random"] if retriever == EVERYWHERE else _OF_RUN
            for name in FILTERS:
                own = [row for row in here if (row.retriever, row.name) == (retriever, name)]
                lacks = block == blocks[0] and retriever not in lexical and name in expected
                missing = Filter(*block, retriever, name, name, reason=reason)
                yield from own or ([missing] if lacks else [])


def _numbers(row: Filter) -> dict[str, Any]:
    """Return a row of the data: what it is, counts, and shares with their intervals."""
    numbers: dict[str, Any] = {
        "collection": row.collection,
        "pool": row.pool,
        "retriever": row.retriever,
        "name": row.name,
        "method": row.method,
        "shared_by": " ".join(row.shared),
        "status": row.reason and f"not run: {row.reason}",
    }
    counts = _with_differences(row.counts)
    if counts is None:
        return numbers
    numbers |= {
        "status": "made",
        "queries": len(counts),
        "queries_without_candidates": int((counts["kept"] == 0).sum()),
        "candidates": int(counts["candidates"].sum()),
        "kept": int(counts["kept"].sum()),
        "removed": int(counts["removed"].sum()),
        "groups": counts["group"].nunique(),
    }
    for name, (numerator, denominator) in SHARES.items():
        if DRAWS not in counts:
            continue
        share = ratio(
            counts[["group"]].assign(numerator=counts[numerator], denominator=counts[denominator])
        )
        numbers |= {name: share.mean, f"{name}_low": share.low, f"{name}_high": share.high}
    return numbers


def _with_differences(counts: pd.DataFrame | None) -> pd.DataFrame | None:
    if counts is None:
        return None
    counts = counts.assign(
        removed=counts["candidates"] - counts["kept"], trained=(counts["kept"] > 0).astype(int)
    )
    if DRAWS in counts:
        removed = counts["false_negatives"] - counts["false_negatives_kept"]
        counts = counts.assign(false_negatives_removed=removed)
    return counts


def _cells(row: Filter) -> tuple[Cell, ...]:
    names = Cell(row.retriever), Cell(row.method)
    if row.counts is None:
        return *names, Cell(f"not run: {row.reason}", span=len(_HEADINGS) - len(names))
    numbers = _numbers(row)
    whole = ("queries", "queries_without_candidates", "kept", "removed")
    shares = []
    for name in SHARES:
        low, high = (numbers.get(f"{name}_{end}", float("nan")) for end in ("low", "high"))
        mean = numbers.get(name, float("nan"))
        shares.append(Cell("–" if mean != mean else f"{mean:.3f} [{low:.3f}, {high:.3f}]"))
    return *names, *(Cell(f"{numbers[name]:,}") for name in whole), *shares
