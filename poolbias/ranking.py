"""The one order in which every measure, table and training job reads a run."""

import numpy as np
import numpy.typing as npt
import pandas as pd

from poolbias.errors import DataError

_IDS = ["query_id", "document_id"]


def canonical(run: pd.DataFrame) -> pd.DataFrame:
    """Return a run in canonical order: it depends on ids and scores, never on the rows' order.

    Args:
        run: columns `query_id`, `document_id` (text) and `score` (a number); a `rank` is ignored.

    Returns:
        A frame with columns `query_id` (str), `document_id` (str), `rank` (int64; 1, 2, ... within
        each query) and `score` (float32), sorted by query id, then by score descending, then by
        document id. Ids are compared as text, scores after rounding to float32.

    Raises:
        DataError: naming query and document for a score that is not a finite float32, an id that
            is missing, or a document that stands twice for one query; naming a missing column.
    """
    _check_columns(run)
    queries, query_ids = pd.factorize(run["query_id"].astype("str"), sort=True)
    documents, document_ids = pd.factorize(run["document_id"].astype("str"), sort=True)
    with np.errstate(over="ignore"):  # too large for float32 becomes infinite and is refused below
        scores = run["score"].to_numpy(np.float64).astype(np.float32)
    _check_scores(run, scores)
    order = np.lexsort((documents, -scores, queries))
    queries, documents = queries[order], documents[order]
    _check_duplicates(run)
    return pd.DataFrame(
        {
            "query_id": query_ids.take(queries),
            "document_id": document_ids.take(documents),
            "rank": _positions(queries),
            "score": scores[order],
        }
    ).astype({"query_id": "str", "document_id": "str"})


def ties(run: pd.DataFrame) -> float:
    """Return the share of neighbours in the canonical order whose float32 scores are equal.

    Neighbours are documents at ranks r and r + 1 of one query; 0.0 if there are none. A large share
    means that document ids, not the model, decide the order (half precision is the usual cause).

    Raises:
        DataError: as `canonical`.
    """
    ordered = canonical(run)
    follows = ordered["rank"].to_numpy()[1:] > 1
    scores = ordered["score"].to_numpy()
    equal = scores[1:] == scores[:-1]
    return float(equal[follows].mean()) if follows.any() else 0.0


def _positions(queries: npt.NDArray[np.intp]) -> npt.NDArray[np.int64]:
    """Return 1, 2, ... within each stretch of equal values."""
    index = np.arange(len(queries), dtype=np.int64)
    starts = np.ones(len(queries), dtype=bool)
    starts[1:] = queries[1:] != queries[:-1]
    first = np.maximum.accumulate(np.where(starts, index, 0))
    return index - first + 1


def _check_columns(run: pd.DataFrame) -> None:
    for column in [*_IDS, "score"]:
        if column not in run.columns:
            raise DataError(
                f"run: column {column!r} is missing (found: {', '.join(map(str, run.columns))}); "
                "read the run with poolbias.formats.read_run."
            )
    for column in _IDS:
        if run[column].isna().any():
            row = int(run[column].isna().to_numpy().argmax())
            raise DataError(f"run: row {row} has no {column}, need text; make the run again.")


def _check_scores(run: pd.DataFrame, scores: npt.NDArray[np.float32]) -> None:
    wrong = ~np.isfinite(scores)
    if wrong.any():
        row = run.iloc[int(wrong.argmax())]
        raise DataError(
            f"run: query {row['query_id']}, document {row['document_id']}: score is "
            f"{row['score']}, need a finite float32; score this pair again in float32."
        )


def _check_duplicates(run: pd.DataFrame) -> None:
    duplicate = run.duplicated(_IDS).to_numpy()
    if duplicate.any():
        row = run.iloc[int(duplicate.argmax())]
        raise DataError(
            f"run: document {row['document_id']} stands twice for query {row['query_id']}, need "
            "each once; keep one of the rows."
        )
