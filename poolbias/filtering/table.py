"""What a method leaves: the candidates table that follows from its weights."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from poolbias.candidates import Candidates
from poolbias.filtering.counts import count
from poolbias.filtering.unlabelled import Unlabelled


def assemble(found: Unlabelled, weights: NDArray[np.float64]) -> tuple[Candidates, pd.DataFrame]:
    """Return the table in which each candidate's probability follows its weight.

    Args:
        found: candidates and labels.
        weights: float64 [candidates], not negative, up to a constant per query; 0 is never drawn
            and leaves the table.

    Returns:
        The table, and the counts per query (`counts.count`). A query that is left without
        candidates is not in the table and so not trained on (our policy).
    """
    frame = found.frame
    total = pd.Series(weights).groupby(frame["query_row"].to_numpy()).transform("sum").to_numpy()
    probability = np.divide(weights, total, out=np.zeros(len(frame)), where=total > 0)
    kept = frame[probability > 0]
    queries = np.unique(kept["query_row"].to_numpy())
    labels = found.labels[found.labels["query_row"].isin(queries)]
    table = Candidates(
        query_rows=queries.astype(np.int32),
        offsets=_offsets(kept["query_row"], queries),
        documents=kept["document_row"].to_numpy(np.int32),
        ranks=kept["rank"].to_numpy(np.int32),
        probability=probability[probability > 0].astype(np.float32),
        positive_offsets=_offsets(labels["query_row"], queries),
        positives=labels["document_row"].to_numpy(np.int32),
        relevant=kept["relevant"].to_numpy(np.uint8) if "relevant" in kept else None,
        uniform=_uniform(kept["query_row"].to_numpy(), probability[probability > 0]),
    )
    return table, count(frame, probability, found.labels["query_id"].unique().tolist())


def _uniform(query_rows: NDArray[np.int64], likely: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Return for each query whether its candidates are equally likely as float32, uint8."""
    by_query = pd.Series(likely.astype(np.float32)).groupby(query_rows)
    return (by_query.max() == by_query.min()).to_numpy().astype(np.uint8)


def _offsets(query_rows: "pd.Series[int]", queries: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.append(np.searchsorted(query_rows, queries), len(query_rows)).astype(np.int64)
