"""Simulated annotators: what they see (the pool), what they label, and how much that is.

Eq. 5 of the paper: a document is labelled for a query if it is selected (in the pool) and relevant.
Nothing here depends on the order of the rows of its inputs.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from poolbias.errors import ConfigError, DataError
from poolbias.files import hash_of

_PAIR = ["query_id", "document_id"]


def pool(runs: Sequence[pd.DataFrame], depth: int) -> pd.DataFrame:
    """Return the union of the first `depth` documents of every run, for each query.

    Args:
        runs: frames with `query_id` (str), `document_id` (str), `rank` (int) and maybe more; the
            rank alone gives the order, and may begin anywhere and have gaps.
        depth: number of documents that are taken from each run, >= 1.

    Returns:
        A frame with `query_id` and `document_id`, each pair once, sorted by both.

    Raises:
        ConfigError: if `depth` is less than 1 or there are no runs.
        DataError: if two documents of a run share a rank for one query.
    """
    if depth < 1 or not runs:
        raise ConfigError(f"depth: found {depth} with {len(runs)} runs, need at least 1 of each.")
    firsts = [_first(run, depth, number) for number, run in enumerate(runs, start=1)]
    return _sorted(pd.concat(firsts)[_PAIR].drop_duplicates())


def label(
    pool: pd.DataFrame, truth: pd.DataFrame, labels_per_query: int | None, seed: int
) -> pd.DataFrame:
    """Return what the annotators label: the relevant documents among those they saw (Eq. 5).

    Args:
        pool: `query_id`, `document_id`, as `pool` returns it.
        truth: `query_id`, `document_id`, `grade` (int); relevant means a grade of 1 or more.
        labels_per_query: None for all of them, or the number at which annotators stop; which ones
            they keep is drawn by the hash of seed, query id and document id.
        seed: keys the draws.

    Returns:
        Qrels with `query_id`, `document_id` and `grade` (int64, always 1), sorted by both ids.

    Raises:
        ConfigError: if `labels_per_query` is less than 1.
    """
    if labels_per_query is not None and labels_per_query < 1:
        raise ConfigError(
            f"labels_per_query: found {labels_per_query}, need at least 1, or null for all."
        )
    labels = _relevant(truth).merge(pool[_PAIR].drop_duplicates(), on=_PAIR, how="inner")
    if labels_per_query is not None:
        pairs = zip(labels["query_id"], labels["document_id"], strict=True)
        draws = [hash_of((seed, "label", query, document), 32) for query, document in pairs]
        ordered = labels.assign(draw=draws).sort_values(["query_id", "draw"])
        labels = ordered.groupby("query_id").head(labels_per_query)[_PAIR]
    return _sorted(labels).assign(grade=1)


def given(
    truth: pd.DataFrame, queries: pd.DataFrame, relevant_from: Mapping[str, int]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the pool and the labels that a collection's own judgements are.

    Args:
        truth: columns `query_id`, `document_id`, `grade`: all that was judged.
        queries: columns `query_id`, `kind` (the set that a query is of).
        relevant_from: by set the grade from which a document is a label; `""` for all others, 1 if
            it is not there.

    Returns:
        What is known of the pool, each judged pair (`query_id`, `document_id`), and qrels with
        grade 1 for labels and 0 for the rest of what was judged, both sorted by their ids.
    """
    least = queries["kind"].map(lambda kind: relevant_from.get(kind, relevant_from.get("", 1)))
    of_query = dict(zip(queries["query_id"], least, strict=True))
    pairs = truth.sort_values(_PAIR, ignore_index=True)
    needed = pairs["query_id"].map(of_query)
    labels = pairs[_PAIR].assign(grade=(pairs["grade"] >= needed).astype("int64"))
    return pairs[_PAIR], labels


def statistics(
    pool: pd.DataFrame, labels: pd.DataFrame, truth: pd.DataFrame, queries: pd.DataFrame
) -> dict[str, Any]:
    """Return how much of the truth the labels hold, ready for JSON.

    Args:
        pool: what annotators saw: `query_id`, `document_id`.
        labels: what they labelled: `query_id`, `document_id`.
        truth: all that is relevant: `query_id`, `document_id`, `grade`.
        queries: `query_id`, and `split` and `kind` if labelled queries are to be counted by them.

    Returns:
        Counts of queries labelled and not (of `queries`), the mean number of labels of a labelled
        query, the share of relevant pairs that are labelled, the number of pooled pairs, their mean
        per query, and the share of pooled pairs that are relevant.
    """
    relevant = _relevant(truth)
    labelled = queries["query_id"].isin(labels["query_id"])
    relevant_pooled = len(pool.merge(relevant, on=_PAIR))
    found: dict[str, Any] = {
        "queries": len(queries),
        "queries_labelled": int(labelled.sum()),
        "queries_not_labelled": int((~labelled).sum()),
        "labels": len(labels),
        "labels_per_labelled_query_mean": len(labels) / max(1, int(labelled.sum())),
        "share_of_truth_labelled": len(labels) / max(1, len(relevant)),
        "pooled_documents": len(pool),
        "pooled_documents_per_query_mean": len(pool) / max(1, len(queries)),
        "share_of_pool_relevant": relevant_pooled / max(1, len(pool)),
    }
    for column in ("split", "kind"):
        if column in queries:
            counts = queries.loc[labelled, column].value_counts()
            names = sorted(queries[column].unique())
            found[f"queries_labelled_by_{column}"] = {n: int(counts.get(n, 0)) for n in names}
    return found


def check_queries(queries: pd.DataFrame, frame: pd.DataFrame, where: str) -> None:
    """Check that `frame` speaks of no query that is not among `queries`.

    Raises:
        DataError: naming `where` (a file) and the first such query.
    """
    unknown = frame.loc[~frame["query_id"].isin(queries["query_id"]), "query_id"]
    if len(unknown):
        raise DataError(
            f"{where}: query {unknown.min()} is not in the collection's queries; "
            "make the file again for this collection."
        )


def _first(run: pd.DataFrame, depth: int, number: int) -> pd.DataFrame:
    tied = run.duplicated(["query_id", "rank"])
    if tied.any():
        row = run[tied].sort_values(["query_id", "rank"]).iloc[0]
        raise DataError(
            f"run {number}: query {row['query_id']} has two documents at rank {row['rank']}, "
            "need one; make the run again."
        )
    return run.sort_values(["query_id", "rank"]).groupby("query_id").head(depth)


def _relevant(truth: pd.DataFrame) -> pd.DataFrame:
    return truth.loc[truth["grade"] >= 1, _PAIR]


def _sorted(pairs: pd.DataFrame) -> pd.DataFrame:
    return pairs.sort_values(_PAIR, ignore_index=True)
