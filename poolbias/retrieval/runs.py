"""Run frames of a retriever: from rows of documents to the files of the three splits."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from poolbias.errors import DataError
from poolbias.formats import write_run
from poolbias.formats.tsv import write_table

SPLITS = ("train", "dev", "test")


def id_order(document_ids: Sequence[str]) -> NDArray[np.int64]:
    """Return each id's place among all sorted, int64 [ids]: the canonical ranking's tie order."""
    order = np.empty(len(document_ids), np.int64)
    order[sorted(range(len(document_ids)), key=lambda row: document_ids[row])] = np.arange(
        len(document_ids)
    )
    return order


def run_of_rows(
    query_ids: Sequence[str],
    document_ids: Sequence[str],
    rows: NDArray[np.int64],
    scores: NDArray[np.float32],
) -> pd.DataFrame:
    """Return the run of a search's result.

    Args:
        query_ids: n ids.
        document_ids: the collection's ids.
        rows: int64 [n, depth], rows of `document_ids`, best first.
        scores: float32 [n, depth].

    Returns:
        A frame with the columns `query_id`, `document_id`, `rank` (int64 from 1), `score`
        (float32), n x depth rows.
    """
    count, depth = rows.shape
    return pd.DataFrame(
        {
            "query_id": pd.Series(np.repeat(np.asarray(query_ids, object), depth), dtype="str"),
            "document_id": pd.Series(np.asarray(document_ids, object)[rows.ravel()], dtype="str"),
            "rank": np.tile(np.arange(1, depth + 1), count),
            "score": scores.ravel(),
        }
    )


def write_found(
    queries: pd.DataFrame,
    document_ids: Sequence[str],
    rows: NDArray[np.int64],
    scores: NDArray[np.float32],
    files: Mapping[str, Path],
    tag: str,
) -> dict[str, Any]:
    """Write what a search found for each query, in one file per split; see `write_splits`.

    Args:
        queries: columns `query_id` and `split`, n rows.
        document_ids: the collection's ids.
        rows: int64 [n, depth], rows of `document_ids`, best first; below 0 nothing was found.
        scores: float32 [n, depth].
        files: as of `write_splits`.
        tag: the run's last column.
    """
    run = run_of_rows(queries["query_id"].tolist(), document_ids, rows, scores)
    return write_splits(run[(rows >= 0).ravel()], queries, files, tag)


def write_splits(
    run: pd.DataFrame, queries: pd.DataFrame, files: Mapping[str, Path], tag: str
) -> dict[str, Any]:
    """Write a run in one file per split, and the queries that are in none of them.

    Args:
        run: columns `query_id`, `document_id`, `rank`, `score`, each query's rows best first.
        queries: columns `query_id` and `split`; their order is the order of the files.
        files: a path each for `train`, `dev`, `test` (TREC runs) and `no_hits` (a table with the
            columns `query_id` and `split`).
        tag: the run's last column.

    Returns:
        Counts for the log: `queries`, `no_hits`, `rows`.

    Raises:
        DataError: for a split of another name, a query listed twice or one of the run that is not
            in `queries`.
    """
    odd = queries["split"][~queries["split"].isin(SPLITS)]
    if len(odd):
        query_id = queries["query_id"][odd.index[0]]
        raise DataError(
            f"queries: query {query_id} has the split {odd.iloc[0]!r}, need one of "
            f"{', '.join(SPLITS)}; correct the table."
        )
    twice = queries["query_id"][queries["query_id"].duplicated()]
    if len(twice):
        raise DataError(f"queries: query {twice.iloc[0]} is listed twice; keep one of the lines.")
    known = pd.Index(queries["query_id"])
    places = known.get_indexer(pd.Index(run["query_id"]))
    if (places < 0).any():
        query_id = run["query_id"].iloc[int((places < 0).argmax())]
        raise DataError(f"run: query {query_id} is not in the table of queries; search again.")
    sorting = np.argsort(places, kind="stable")
    run, places = run.iloc[sorting], places[sorting]
    splits = queries["split"].to_numpy()[places]
    for split in SPLITS:
        write_run(files[split], run[splits == split], tag)
    found = np.zeros(len(queries), bool)
    found[places] = True
    write_table(files["no_hits"], queries.loc[~found, ["query_id", "split"]])
    return {"queries": len(queries), "no_hits": int((~found).sum()), "rows": len(run)}
