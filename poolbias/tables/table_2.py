"""Table 2: the recall of the runs, by labels and by truth."""

from collections.abc import Mapping
from dataclasses import replace

import pandas as pd

from poolbias.tables.pages import Page, Plan, Source, build
from poolbias.tables.results import LABELS, TRUTH, Column, of_first
from poolbias.tables.rows import Row, run_rows

NAMES = ["collection", "pool", "retriever", "measure", "status"]
_NUMBERS = [
    *("mean", "low", "high", "queries", "groups", "against", "difference", "difference_low"),
    *("difference_high", "p_t", "p_randomisation", "p_t_holm", "p_randomisation_holm"),
    *("smallest_detectable", "mark"),
]


def table_2(source: Source) -> Page:
    """Return Table 2: how much of what is relevant each run holds; a row of `data` per retriever.

    The parameter `cut`, or a list `cuts`, is the depth k of recall@k (the paper: 1,000, 100, 50);
    `data` then has a row per retriever and measure. Retrievers are
    tested against the first, BM25 where there is one.

    Args:
        source: what the table is made from.

    Raises:
        DataError: as `poolbias.tables.pages.build`.
    """
    cuts = source.options.get("cuts") or [source.options["cut"]]
    page = build(
        source,
        Plan(
            "table_2",
            f"Study {source.study}: recall of the runs.",
            run_rows(source.rows, source.lexical),
            [Column(f"R@{cut}", judgements) for cut in cuts for judgements in (LABELS, TRUTH)],
            texts=("retriever",),
            against="the first retriever",
            opponents=of_first,
            rest=lambda row: "",
            bold=False,
        ),
    )
    return replace(page, data=_by_retriever(page.data, page.systems))


def _by_retriever(data: pd.DataFrame, systems: Mapping[Row, str]) -> pd.DataFrame:
    """Return a row per block and retriever: numbers by labels, by truth, and the paper's beside."""
    ours = data[data["source"] == "ours"]
    table = ours[NAMES].drop_duplicates().reset_index(drop=True)
    for judgements in (LABELS, TRUTH):
        rows = ours.loc[ours["judgements"] == judgements, [*NAMES, *_NUMBERS]]
        names = {name: f"{judgements}_{name}" for name in _NUMBERS}
        table = table.merge(rows.rename(columns=names), on=NAMES, how="left", validate="1:1")
    beside = {(*row.block, row.retriever): system for row, system in systems.items()}
    keys = list(zip(table["collection"], table["pool"], table["retriever"], strict=True))
    paper = data[data["source"] == "paper"]
    for (collection, measure), rows in paper.groupby(["collection", "measure"], sort=False):
        values = dict(zip(rows["retriever"], rows["mean"], strict=True))
        table[f"paper {collection} {measure}"] = [values.get(beside.get(key)) for key in keys]
    return table
