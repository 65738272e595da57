"""What a method chooses from: the unlabelled documents of a run's top, and what is known of them.

Queries without a label are left out from the start: they give no training pair.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from poolbias.errors import ConfigError, DataError
from poolbias.filtering.draws import generator_of, groups_of
from poolbias.filtering.pair_scores import PairScores, key_of

PAIR = ["query_row", "document_row"]
POSITIVES = ("lowest", "mean", "highest")


@dataclass(frozen=True)
class Unlabelled:
    """What a method chooses from: the unlabelled documents of the labelled queries.

    Attributes:
        frame: one row per candidate, sorted by query and rank: `query_id` (str), `query_row`,
            `document_row`, `rank` (int64), `score` (float64), `relevant` (bool; absent where the
            truth is not known), and what `with_…` adds.
        labels: one row per labelled document, sorted: `query_id`, `query_row`, `document_row`,
            `retrieved` (bool: the run holds it) and `score`.
        figures: what `with_…` found, for the statistics.
    """

    frame: pd.DataFrame
    labels: pd.DataFrame
    figures: dict[str, float] = field(default_factory=dict)


def training_rows(
    queries: pd.DataFrame, documents: pd.DataFrame
) -> tuple[dict[str, int], dict[str, int]]:
    """Return the row of each training query and of each document, by id.

    Args:
        queries: columns query_id and split.
        documents: column document_id.
    """
    training = queries[queries["split"] == "train"]
    return (
        dict(zip(training["query_id"], training.index, strict=True)),
        dict(zip(documents["document_id"], documents.index, strict=True)),
    )


def unlabelled(
    run: pd.DataFrame,
    labels: pd.DataFrame,
    truth: pd.DataFrame | None,
    query_rows: Mapping[str, int],
    document_rows: Mapping[str, int],
    depth: int,
) -> Unlabelled:
    """Return the documents of each query's top `depth` that are not labelled (Cai et al. §5.3).

    A labelled document that the run does not hold gets the lowest score that the run has for its
    query, which is at least as high as its own (our choice).

    Args:
        run: columns query_id, document_id, rank, score.
        labels: qrels; grade ≥ 1 is a labelled positive.
        truth: qrels, or None where it is not known; grade ≥ 1 is relevant.
        query_rows: row of each query id; a query of the run that is not there is left out.
        document_rows: row of each document id.
        depth: how many of the retriever's ranks are looked at, the labelled ones included.

    Raises:
        DataError: naming a document id of the run or labels that the collection does not hold.
    """
    positives = _rows(labels[labels["grade"] >= 1], query_rows, document_rows, "labels")
    positives = positives[["query_id", *PAIR]].sort_values(PAIR, ignore_index=True)
    run = run[run["query_id"].isin(set(positives["query_id"]))]
    frame = _rows(run, query_rows, document_rows, "run")
    scores = frame.set_index(PAIR)["score"].astype("float64")
    positives["score"] = scores.reindex(pd.MultiIndex.from_frame(positives[PAIR])).to_numpy()
    positives["retrieved"] = positives["score"].notna()
    lowest = positives["query_row"].map(frame.groupby("query_row")["score"].min())
    positives["score"] = positives["score"].fillna(lowest)
    frame = frame[(frame["rank"] <= depth) & ~_within(frame, positives)]
    frame = frame.sort_values(["query_row", "rank"], ignore_index=True)
    if truth is not None:
        relevant = _rows(truth[truth["grade"] >= 1], query_rows, document_rows, "truth")
        frame["relevant"] = _within(frame, relevant)
    return Unlabelled(frame, positives)


def without_judged(
    found: Unlabelled,
    labels: pd.DataFrame,
    query_rows: Mapping[str, int],
    document_rows: Mapping[str, int],
) -> Unlabelled:
    """Return candidates without those that were judged irrelevant (the paper's D⁻, Eq. 3 and 4).

    Args:
        found: candidates and labels.
        labels: qrels; grade 0 is judged irrelevant.
        query_rows: as in `unlabelled`.
        document_rows: as in `unlabelled`.
    """
    judged = _rows(labels[labels["grade"] < 1], query_rows, document_rows, "labels")
    inside = _within(found.frame, judged)
    figures = found.figures | {"candidates_judged_irrelevant": int(inside.sum())}
    return replace(found, frame=found.frame[~inside].reset_index(drop=True), figures=figures)


def sampled_run(
    query_ids: Sequence[str], document_ids: Sequence[str], size: int, seed: int
) -> pd.DataFrame:
    """Return documents drawn for each query uniformly from the whole collection, as a run.

    Args:
        query_ids: the queries.
        document_ids: the whole collection.
        size: documents per query, without repeats; all of them if there are fewer.
        seed: the draws of a query are keyed by it and the query's id.

    Returns:
        Columns query_id, document_id, rank (the order of the draws, from 1) and score (0).
    """
    size = min(size, len(document_ids))
    drawn = [
        generator_of(seed, "random", query_id).choice(len(document_ids), size, replace=False)
        for query_id in query_ids
    ]
    rows = np.concatenate(drawn) if drawn else np.empty(0, np.int64)
    return pd.DataFrame(
        {
            "query_id": np.repeat(np.asarray(query_ids, dtype=object), size),
            "document_id": np.asarray(document_ids, dtype=object)[rows],
            "rank": np.tile(np.arange(1, size + 1), len(drawn)),
            "score": 0.0,
        }
    ).astype({"query_id": "str", "document_id": "str"})


def with_scores(found: Unlabelled, scores: PairScores) -> Unlabelled:
    """Return candidates and labels with a teacher's scores in place of the retriever's.

    Candidates that the teacher did not score leave: nothing can be said of them.

    Raises:
        DataError: naming the query of a labelled document that the teacher did not score.
    """
    frame = found.frame.assign(score=scores.of(found.frame))
    labels = found.labels.assign(score=scores.of(found.labels))
    lacking = labels["score"].isna()
    if lacking.any():
        raise DataError(
            f"scores: a labelled document of query {labels.loc[lacking, 'query_id'].iloc[0]} has "
            "no score; score the candidates again, with these labels."
        )
    scored = frame["score"].notna()
    figures = found.figures | {"candidates_not_scored": int((~scored).sum())}
    labels["retrieved"] = True
    return Unlabelled(frame[scored].reset_index(drop=True), labels, figures)


def with_positive_score(found: Unlabelled, which: str) -> Unlabelled:
    """Return candidates with `positive_score`, the score of their query's labelled documents.

    The figures get the number of labelled documents that the run, whose scores these are, lacks.

    Args:
        found: candidates and labels with scores of one kind.
        which: of several labelled documents the `lowest`, the `mean` or the `highest`.

    Raises:
        ConfigError: for another word.
    """
    if which not in POSITIVES:
        raise ConfigError(f"positive is {which!r}, need one of {', '.join(POSITIVES)}; correct it.")
    how = {"lowest": "min", "mean": "mean", "highest": "max"}[which]
    of_query = found.labels.groupby("query_row")["score"].agg(how)
    return replace(
        found,
        frame=found.frame.assign(positive_score=found.frame["query_row"].map(of_query)),
        figures=found.figures | {"labels_not_retrieved": int((~found.labels["retrieved"]).sum())},
    )


def with_selected(
    found: Unlabelled,
    pool: pd.DataFrame,
    query_rows: Mapping[str, int],
    document_rows: Mapping[str, int],
) -> Unlabelled:
    """Return candidates with `selected` (bool): whether annotators saw them.

    Args:
        found: candidates and labels.
        pool: columns query_id, document_id: what annotators saw.
        query_rows: as in `unlabelled`.
        document_rows: as in `unlabelled`.

    Raises:
        DataError: naming a document id of the pool that the collection does not hold.
    """
    selected = _within(found.frame, _rows(pool, query_rows, document_rows, "pool"))
    return replace(found, frame=found.frame.assign(selected=selected))


def pairs_to_score(found: Unlabelled, scored: int | None, seed: int) -> pd.DataFrame:
    """Return what a teacher scores: all labelled documents, and candidates of their queries.

    Args:
        found: candidates and labels.
        scored: candidates per query, drawn without repeats by seed and query id; None for all.
        seed: keys the draws.

    Returns:
        Columns query_row and document_row, sorted.
    """
    frame = found.frame
    if scored is not None:
        chosen = [
            rows
            if len(rows) <= scored
            else generator_of(seed, "scored", query_id).choice(rows, scored, replace=False)
            for query_id, rows in groups_of(frame)
        ]
        frame = frame.iloc[np.concatenate(chosen)] if chosen else frame
    pairs = pd.concat([frame[PAIR], found.labels[PAIR]])
    return pairs.sort_values(PAIR, ignore_index=True)


def _rows(
    frame: pd.DataFrame, query_rows: Mapping[str, int], document_rows: Mapping[str, int], what: str
) -> pd.DataFrame:
    frame = frame[frame["query_id"].isin(query_rows)]
    documents = frame["document_id"].map(document_rows)
    if documents.isna().any():
        row = frame.iloc[int(documents.isna().to_numpy().argmax())]
        raise DataError(
            f"{what}: document {row['document_id']!r} of query {row['query_id']} is not in the "
            "collection; use a file made from this collection."
        )
    return frame.assign(
        query_row=frame["query_id"].map(query_rows).astype(np.int64),
        document_row=documents.astype(np.int64),
    )


def _within(frame: pd.DataFrame, other: pd.DataFrame) -> NDArray[np.bool_]:
    return np.isin(key_of(frame), key_of(other))
