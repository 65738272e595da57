"""What a step trains a bi-encoder on: labelled pairs, and hard negatives from a run."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from poolbias.errors import DataError, TrainingError
from poolbias.formats.tsv import rows_of
from poolbias.training.draws import uniforms

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Labelled:
    """The labelled pairs of the training queries.

    Attributes:
        queries: row of the query of each pair, int64 [pairs].
        documents: row of its document, int64 [pairs].
        number: of documents of the collection.
    """

    queries: Rows
    documents: Rows
    number: int

    def contains(self, queries: Rows, documents: Rows) -> NDArray[np.bool_]:
        """Return whether each query is labelled with each document, bool [queries, documents]."""
        keys = self.queries * self.number + self.documents
        found: NDArray[np.bool_] = np.isin(queries[:, None] * self.number + documents, keys)
        return found


def labelled_pairs(
    labels: pd.DataFrame, queries: pd.DataFrame, documents: pd.DataFrame
) -> Labelled:
    """Return the labelled pairs of the queries of the split `train`.

    Args:
        labels: columns `query_id`, `document_id`, `grade`; those of grade 1 and more count.
        queries: columns `query_id`, `split`.
        documents: column `document_id`.

    Raises:
        DataError: for a labelled document that the collection lacks.
        TrainingError: if no training query has a label.
    """
    train = queries.loc[queries["split"] == "train", "query_id"]
    some = labels[(labels["grade"] > 0) & labels["query_id"].isin(train)]
    if some.empty:
        raise TrainingError(
            "no query of the split 'train' has a label, need at least one; use another pool."
        )
    return Labelled(
        rows_of(some["query_id"], queries["query_id"], "queries"),
        rows_of(some["document_id"], documents["document_id"], "documents"),
        len(documents),
    )


@dataclass(frozen=True)
class HardNegatives:
    """Unlabelled documents at the top of each training query's list.

    Attributes:
        documents: rows of documents, query after query, int64 [documents].
        starts: where each query row's begin, int64 [queries + 1]; a query may have none.
    """

    documents: Rows
    starts: Rows

    def draw(self, queries: Rows, seed: int, step: int, count: int) -> Rows:
        """Return documents for the queries of a step's pairs, int64 [pairs, count], uniformly.

        With replacement; −1 where a query has none. Draws are keyed by seed, step and slot.
        """
        first, last = self.starts[queries], self.starts[queries + 1]
        place = (uniforms(seed, step, len(queries), count, 1) * (last - first)[:, None]).astype(int)
        if not len(self.documents):
            return np.full(place.shape, -1)
        found = self.documents[np.minimum(first[:, None] + place, len(self.documents) - 1)]
        return np.where((last > first)[:, None], found, -1)


def hard_negatives(
    queries: Rows, documents: Rows, labelled: Labelled, number: int
) -> HardNegatives:
    """Return the unlabelled ones of ranked pairs.

    Args:
        queries: row of the query of each pair, int64 [pairs].
        documents: row of its document, int64 [pairs].
        labelled: the pairs that are none.
        number: of queries of the collection.
    """
    keys = labelled.queries * labelled.number + labelled.documents
    kept = ~np.isin(queries * labelled.number + documents, keys)
    queries, documents = queries[kept], documents[kept]
    order = np.argsort(queries, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(queries, minlength=number))])
    return HardNegatives(documents[order], starts)


def of_run(
    run: pd.DataFrame, depth: int, queries: pd.DataFrame, documents: pd.DataFrame
) -> tuple[Rows, Rows]:
    """Return rows of queries and of documents, int64 [pairs] each, of the top of a run.

    Args:
        run: columns `query_id`, `document_id`, `rank`.
        depth: the last rank taken.
        queries: column `query_id`.
        documents: column `document_id`.

    Raises:
        DataError: for an id that the collection lacks.
    """
    top = run[run["rank"] <= depth]
    if top.empty:
        raise DataError("run: has no rows, need hard negatives from it; use another retriever.")
    return (
        rows_of(top["query_id"], queries["query_id"], "queries"),
        rows_of(top["document_id"], documents["document_id"], "documents"),
    )


def draw_pairs(labelled: Labelled, seed: int, step: int, pairs: int) -> tuple[Rows, Rows]:
    """Return the rows of queries and documents of a step's labelled pairs, int64 [pairs] each.

    Uniform over pairs, with replacement, keyed by seed, step and slot.
    """
    place = (uniforms(seed, step, pairs, 1)[:, 0] * len(labelled.queries)).astype(np.int64)
    return labelled.queries[place], labelled.documents[place]


@dataclass(frozen=True)
class Batch:
    """What a step trains on.

    Attributes:
        queries: row of the query of each pair, int64 [pairs].
        positives: row of its labelled document, int64 [pairs].
        hard: rows of its hard negatives, int64 [pairs, negatives]; −1 where it has none.
        columns: rows of all these documents, each once, rising, int64 [documents].
    """

    queries: Rows
    positives: Rows
    hard: Rows
    columns: Rows

    def places(self, documents: Rows) -> Rows:
        """Return the column of each document, int64 of the shape given; of −1 it means nothing."""
        return np.searchsorted(self.columns, documents)

    def own(self) -> NDArray[np.bool_]:
        """Return which documents are a pair's own: its positive and its hard negatives.

        Returns:
            bool [pairs, documents].
        """
        listed = np.concatenate([self.positives[:, None], self.hard], axis=1)
        found: NDArray[np.bool_] = (listed[:, :, None] == self.columns).any(axis=1)
        return found


def draw_batch(
    parameters: dict[str, Any], labelled: Labelled, hard: HardNegatives | None, step: int
) -> Batch:
    """Return the pairs of a step, and their hard negatives where there are any.

    Args:
        parameters: `seed`, `negatives_per_positive`, and `pairs` within `training`.
        labelled: the pairs to draw from.
        hard: the hard negatives to draw from, or None.
        step: from 1, of all rounds.
    """
    seed, pairs = parameters["seed"], parameters["training"]["pairs"]
    queries, positives = draw_pairs(labelled, seed, step, pairs)
    negatives = np.empty((pairs, 0), np.int64)
    if hard is not None:
        negatives = hard.draw(queries, seed, step, parameters["negatives_per_positive"])
    found = negatives[negatives >= 0]
    return Batch(queries, positives, negatives, np.unique(np.concatenate([positives, found])))
