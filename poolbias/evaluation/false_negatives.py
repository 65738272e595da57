"""How many of a run's unlabelled candidates are relevant after all."""

import logging
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from poolbias.errors import ConfigError, DataError
from poolbias.formats.tsv import read_table
from poolbias.ranking import canonical

log = logging.getLogger("poolbias")
_PAIR = ["query_id", "document_id"]


def shares(
    run: pd.DataFrame,
    labels: pd.DataFrame,
    truth: pd.DataFrame,
    depths: Sequence[int] = (10, 20, 50, 100),
    grade: int = 1,
) -> pd.DataFrame:
    """Count false negatives among the unlabelled candidates of the top of a run, per query.

    A candidate is a document at rank k or above; it is unlabelled if `labels` does not grade it 1
    or higher, and a false negative if it is unlabelled and `truth` grades it `grade` or higher.
    Only queries with at least one label count (others give no training pairs), and only those that
    `truth` judges at all (of others nothing is known).

    Args:
        run: columns `query_id`, `document_id`, `score`.
        labels: qrels (`query_id`, `document_id`, `grade`) that a ranker is trained on.
        truth: qrels of complete or depth-pooled relevance.
        depths: the values of k.
        grade: the lowest grade of `truth` that is relevant (2 for TREC DL passages).

    Returns:
        A frame with columns `query_id` (str), `depth`, `unlabelled`, `false_negatives` (int64) and
        `share` (float64; NaN where no candidate is unlabelled), a row per query and depth, sorted
        by query id; a query without hits has counts of 0.

    Raises:
        ConfigError: if a depth is not a whole number from 1 up.
        DataError: as `canonical`.
    """
    for depth in depths:
        if not isinstance(depth, int | np.integer) or depth < 1:
            raise ConfigError(f"depths: found {depth!r}, need whole numbers from 1 up; correct it.")
    ranked = canonical(run)
    if ranked["rank"].max() < max(depths):
        log.warning("the run is no deeper than %s, asked: %s", ranked["rank"].max(), max(depths))
    labelled = _relevant(labels, 1)
    judged = set(truth["query_id"].astype("str"))
    queries = sorted(set(labelled["query_id"]) & judged)
    ranked = ranked[ranked["query_id"].isin(queries)]
    candidates = ranked[~_contains(labelled, ranked)]
    wrong = candidates[_contains(_relevant(truth, grade), candidates)]
    frames = [
        pd.DataFrame(
            {
                "query_id": pd.Series(queries, dtype="str"),
                "depth": depth,
                "unlabelled": _count(candidates, depth, queries),
                "false_negatives": _count(wrong, depth, queries),
            }
        )
        for depth in depths
    ]
    table = pd.concat(frames).sort_values(["query_id", "depth"], kind="stable", ignore_index=True)
    unlabelled = table["unlabelled"].where(table["unlabelled"] > 0)
    return table.assign(share=(table["false_negatives"] / unlabelled).astype("float64"))


def pooled(per_query: pd.DataFrame) -> pd.DataFrame:
    """Pool what `shares` returns over queries: sum of false negatives over sum of unlabelled.

    Returns:
        A frame with columns `depth`, `queries`, `unlabelled`, `false_negatives` (int64) and `share`
        (float64), a row per depth in ascending order.
    """
    sums = per_query.groupby("depth", as_index=False).agg(
        queries=("query_id", "size"),
        unlabelled=("unlabelled", "sum"),
        false_negatives=("false_negatives", "sum"),
    )
    return sums.assign(share=sums["false_negatives"] / sums["unlabelled"])


def read_shares(path: Path | str) -> pd.DataFrame:
    """Read a file that `shares` filled.

    Returns:
        A frame with columns `query_id` (str), `depth`, `unlabelled`, `false_negatives` (int64); the
        share is left out, since only sums may be divided.

    Raises:
        DataError: naming file and line for a missing column or a count that is not a whole number.
    """
    counts = ["depth", "unlabelled", "false_negatives"]
    frame = read_table(path, ["query_id", *counts])[["query_id", *counts]]
    for column in counts:
        wrong = ~frame[column].str.fullmatch("[0-9]+").to_numpy(bool)
        if wrong.any():
            row = int(wrong.argmax())
            raise DataError(
                f"{path}:{row + 2}: {column} is {frame[column].iloc[row]!r}, need a whole number; "
                "count the false negatives again."
            )
    return frame.astype(dict.fromkeys(counts, "int64"))


def _relevant(qrels: pd.DataFrame, grade: int) -> pd.DataFrame:
    return qrels.loc[qrels["grade"] >= grade, _PAIR].astype("str")


def _contains(pairs: pd.DataFrame, rows: pd.DataFrame) -> "pd.Series[bool]":
    """Say for each of `rows` whether its query and document are among `pairs`."""
    found = pd.MultiIndex.from_frame(rows[_PAIR]).isin(pd.MultiIndex.from_frame(pairs))
    return pd.Series(found, index=rows.index)


def _count(candidates: pd.DataFrame, depth: int, queries: list[str]) -> npt.NDArray[np.int64]:
    counts = candidates.loc[candidates["rank"] <= depth, "query_id"].value_counts()
    return np.asarray(counts.reindex(queries, fill_value=0), dtype=np.int64)
