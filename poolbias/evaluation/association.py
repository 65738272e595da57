"""How a number per document goes with what is known of it: AUC and Spearman, query by query."""

import pandas as pd


def auc(frame: pd.DataFrame, score: str, outcome: str) -> "pd.Series[float]":
    """Return per query the area under the ROC curve: the score of hits against that of others.

    It is the probability that a random document with the outcome has a higher score than a random
    one without, ties counting half (Mann and Whitney 1947): .5 is no relation.

    Args:
        frame: columns `query_id`, `score`'s (a number, maybe infinite) and `outcome`'s (0 or 1).
        score: name of a column.
        outcome: name of a column.

    Returns:
        float64 by query id, sorted; a query whose documents all have one outcome is left out.
    """
    hit = frame[outcome].astype(bool)
    ranks = frame.groupby("query_id")[score].rank()
    table = pd.DataFrame({"hit": hit, "hit_ranks": ranks.where(hit, 0.0)})
    sums = table.groupby(frame["query_id"]).agg(
        hits=("hit", "sum"), documents=("hit", "size"), ranks=("hit_ranks", "sum")
    )
    others = sums["documents"] - sums["hits"]
    sums = sums.assign(others=others)[(sums["hits"] > 0) & (others > 0)]
    above = sums["ranks"] - sums["hits"] * (sums["hits"] + 1) / 2
    return (above / (sums["hits"] * sums["others"])).astype("float64").sort_index()


def spearman(frame: pd.DataFrame, score: str, outcome: str) -> "pd.Series[float]":
    """Return per query Spearman's rank correlation of the score with the outcome.

    The correlation of the ranks, ties sharing their mean rank (Spearman 1904).

    Args:
        frame: columns `query_id`, `score`'s (a number, maybe infinite) and `outcome`'s (a number).
        score: name of a column.
        outcome: name of a column.

    Returns:
        float64 by query id, sorted; a query whose documents all have one outcome is left out, and
        one whose scores are all equal has 0 (no relation).
    """
    queries = frame["query_id"]
    columns = {}
    for name in ("score", "outcome"):
        values = frame[score if name == "score" else outcome].astype("float64")
        ranks = values.groupby(queries).rank()
        columns[name] = ranks - ranks.groupby(queries).transform("mean")
    products = pd.DataFrame(
        {
            "both": columns["score"] * columns["outcome"],
            "score": columns["score"] ** 2,
            "outcome": columns["outcome"] ** 2,
        }
    )
    sums = products.groupby(queries).sum().sort_index()
    sums = sums[sums["outcome"] > 0]
    size = (sums["score"] * sums["outcome"]) ** 0.5
    return (sums["both"] / size.where(size > 0)).fillna(0.0).astype("float64")
