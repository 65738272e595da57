"""The summary of a study: one row per ranked system, judgements and measure."""

import pandas as pd

from poolbias.errors import DataError
from poolbias.evaluation.resampling import interval

SYSTEM = ["experiment", "collection", "pool", "retriever", "method", "ranker", "judgements"]


def summarise_systems(per_query: pd.DataFrame, queries: pd.DataFrame) -> pd.DataFrame:
    """Return means over queries with 95% intervals over groups, seeds averaged per query first.

    Args:
        per_query: columns of `SYSTEM`, `seed`, `query_id`, `measure` and `value`.
        queries: columns `collection`, `query_id` and `group`, the unit that is resampled.

    Returns:
        Columns of `SYSTEM`, `measure`, `mean`, `low`, `high` (the interval holds the variation
        between groups, not between seeds), `queries`, `groups`, `seeds`; systems and measures in
        the order of `per_query`.

    Raises:
        DataError: naming the first query that `queries` does not hold, or if a system's seeds were
            measured on different queries.
    """
    frame = per_query.merge(
        queries[["collection", "query_id", "group"]], on=["collection", "query_id"], how="left"
    )
    if frame["group"].isna().any():
        row = frame[frame["group"].isna()].iloc[0]
        raise DataError(
            f"query {row['query_id']} of {row['experiment']} is not among the queries of "
            f"{row['collection']}; evaluate with the queries of this collection."
        )
    rows = []
    for names, part in frame.groupby([*SYSTEM, "measure"], sort=False):
        seeds = part["seed"].nunique()
        values = part.groupby(["query_id", "group"], as_index=False).agg(
            value=("value", "mean"), seeds=("seed", "nunique")
        )
        if (values["seeds"] != seeds).any():
            query = values.loc[values["seeds"] != seeds, "query_id"].iloc[0]
            raise DataError(
                f"query {query} of {names[0]} was not measured for all {seeds} seeds; "
                "evaluate all seeds on the same queries."
            )
        mean, low, high, count, groups = interval(values)
        system = dict(zip([*SYSTEM, "measure"], names, strict=True))
        numbers = {"mean": mean, "low": low, "high": high}
        rows.append(system | numbers | {"queries": count, "groups": groups, "seeds": seeds})
    return pd.DataFrame(rows)
