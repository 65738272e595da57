"""How likely a document at a rank is relevant: P_relevant(r) of RANCE, from judged queries.

Prakash, Killingback and Zamani (SIGIR 2021): the share of judged queries whose document at rank r
is judged relevant. Where the judged queries are also those that results are about, each half of
them tells it for the other.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from poolbias.collections.base import keyed_uniform
from poolbias.errors import DataError
from poolbias.formats.tsv import read_table

HALVES = (1, 2)


def rank_relevance(
    run: pd.DataFrame, truth: pd.DataFrame, query_ids: "pd.Series[str]", depth: int
) -> pd.DataFrame:
    """Return the share of judged queries whose document at a rank is relevant.

    Args:
        run: columns query_id, document_id, rank.
        truth: qrels; a query that it holds is judged, and grade ≥ 1 is relevant.
        query_ids: the queries that are looked at.
        depth: the number of ranks.

    Returns:
        Columns `rank` (1 to depth), `queries`, `relevant` (int64) and `probability`; a query
        without a document at a rank counts as one without a relevant one there.

    Raises:
        DataError: if none of the queries is judged.
    """
    judged = set(query_ids) & set(truth["query_id"])
    if not judged:
        raise DataError(
            "truth: judges none of the queries that P_relevant is estimated on; use others."
        )
    pairs = truth.loc[truth["grade"] >= 1, ["query_id", "document_id"]]
    found = run[run["query_id"].isin(judged)].merge(pairs, on=["query_id", "document_id"])
    counts = found["rank"].value_counts().reindex(range(1, depth + 1), fill_value=0)
    return pd.DataFrame(
        {
            "rank": np.arange(1, depth + 1),
            "queries": len(judged),
            "relevant": counts.to_numpy(np.int64),
            "probability": counts.to_numpy(np.float64) / len(judged),
        }
    )


def read_rank_relevance(path: Path | str) -> list[float]:
    """Read the probabilities of ranks 1, 2, … from a table that `rank_relevance` filled.

    Raises:
        DataError: naming the file where ranks are not 1, 2, … or a probability is none.
    """
    table = read_table(path, ["rank", "probability"])
    try:
        ranks = table["rank"].astype("int64")
        probability = table["probability"].astype("float64")
    except ValueError as error:
        raise DataError(f"{path}: {error}; estimate it again.") from error
    if ranks.tolist() != list(range(1, len(ranks) + 1)) or not probability.between(0, 1).all():
        raise DataError(
            f"{path}: need ranks 1, 2, … and probabilities from 0 to 1; estimate it again."
        )
    return probability.tolist()


def half_of(group: str) -> int:
    """Return 1 or 2, the half of the queries that a group belongs to, by its name alone."""
    return HALVES[keyed_uniform("half", group) >= 0.5]


def join_halves(rankings: Mapping[int, pd.DataFrame], queries: pd.DataFrame) -> pd.DataFrame:
    """Return one ranking in which each query has that of the ranker that did not see its half.

    Args:
        rankings: by the half whose truth the ranker's negatives were drawn by, a frame with
            query_id and any other columns.
        queries: columns query_id and group.

    Raises:
        DataError: naming a query of a ranking that is not among `queries`.
    """
    halves = {name: half_of(name) for name in set(queries["group"])}
    of_query = dict(zip(queries["query_id"], queries["group"].map(halves), strict=True))
    parts = []
    for half, ranking in rankings.items():
        own = ranking["query_id"].map(of_query)
        if own.isna().any():
            query = ranking.loc[own.isna(), "query_id"].iloc[0]
            raise DataError(
                f"query {query} is not among the collection's queries; rank this collection's."
            )
        parts.append(ranking[own.to_numpy() != half])
    joined: pd.DataFrame = pd.concat(parts, ignore_index=True)
    return joined
