"""What a filter kept and removed: counts per query, and the figures that follow from them."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from poolbias.errors import DataError
from poolbias.formats.tsv import read_table

COUNTS = ("candidates", "kept")
FALSE = ("false_negatives", "false_negatives_kept")
DRAWS = "false_negative_draws"
POLICY = "A query that is left without candidates is not trained on."


def count(
    frame: pd.DataFrame, probability: NDArray[np.float64], query_ids: Sequence[str]
) -> pd.DataFrame:
    """Count candidates per query, and false negatives among them where the truth is known.

    Args:
        frame: one row per candidate before the filter: `query_id` and maybe `relevant` (bool).
        probability: float64 [candidates], of being drawn; 0 is removed, and a query's sum to 1 or,
            where none is left, to 0.
        query_ids: every labelled query, also those without a candidate.

    Returns:
        Columns `query_id`, `candidates` and `kept` (int64) and, with the truth, `false_negatives`,
        `false_negatives_kept` (int64) and `false_negative_draws` (float64: the probability that a
        draw is a false negative, 0 where nothing can be drawn); a row per query, in their order.
    """
    told = pd.DataFrame({"query_id": frame["query_id"], "candidates": 1, "kept": probability > 0})
    if "relevant" in frame:
        relevant = frame["relevant"].to_numpy(bool)
        told["false_negatives"] = relevant
        told["false_negatives_kept"] = relevant & (probability > 0)
        told[DRAWS] = probability * relevant
    sums = told.groupby("query_id").sum().reindex(list(query_ids), fill_value=0)
    whole = [name for name in (*COUNTS, *FALSE) if name in sums]
    return sums.astype(dict.fromkeys(whole, "int64")).rename_axis("query_id").reset_index()


def figures_of(counts: pd.DataFrame) -> dict[str, float]:
    """Return the figures of a filter from what `count` returns.

    Returns:
        Queries labelled, queries, and queries left without candidates (they are not trained on:
        our policy); candidates kept and removed; and where the truth is known the share of false
        negatives before and after, the share of draws that are false negatives (a mean over
        queries), and precision and recall at finding false negatives (0 where nothing is removed,
        or nothing is false).
    """
    queries = int((counts["kept"] > 0).sum())
    kept, removed = int(counts["kept"].sum()), int((counts["candidates"] - counts["kept"]).sum())
    figures: dict[str, float] = {
        "queries_labelled": len(counts),
        "queries": queries,
        "queries_without_candidates": len(counts) - queries,
        "candidates_kept": kept,
        "candidates_removed": removed,
    }
    if DRAWS not in counts:
        return figures
    false, left = (int(counts[name].sum()) for name in FALSE)
    return figures | {
        "false_negative_share_before": false / max(kept + removed, 1),
        "false_negative_share_after": left / max(kept, 1),
        "false_negative_draws": float(counts[DRAWS].sum()) / max(queries, 1),
        "removed_precision": (false - left) / removed if removed else 0.0,
        "removed_recall": (false - left) / false if false else 0.0,
    }


def read_counts(path: Path | str) -> pd.DataFrame:
    """Read a table that `count` filled, with the columns that it has.

    Raises:
        DataError: naming the file for a missing column or a cell that is not a number.
    """
    frame = read_table(path, ["query_id", *COUNTS])
    kinds = dict.fromkeys(COUNTS, "int64")
    if DRAWS in frame:
        kinds |= dict.fromkeys(FALSE, "int64") | {DRAWS: "float64"}
    try:
        return frame[["query_id", *kinds]].astype(kinds)
    except (KeyError, ValueError) as error:
        raise DataError(f"{path}: {error}; choose the negatives again.") from error
