"""The summary of a study against hand-made per-query values."""

import pandas as pd
import pytest

from poolbias.errors import DataError
from poolbias.evaluation.summary import SYSTEM, summarise_systems

NAMES = dict.fromkeys(SYSTEM, "x") | {"collection": "c"}
QUERIES = pd.DataFrame(
    [("c", "a", "t1"), ("c", "b", "t1"), ("c", "d", "t2"), ("other", "a", "t9")],
    columns=["collection", "query_id", "group"],
)


def values(rows, **names):
    frame = pd.DataFrame(rows, columns=["seed", "query_id", "value"])
    return frame.assign(measure="RR@10", **(NAMES | names))


def test_seeds_are_averaged_per_query_and_queries_over_groups():
    rows = [
        (1, "a", 0.0),
        (2, "a", 1.0),
        (1, "b", 0.5),
        (2, "b", 0.5),
        (1, "d", 1.0),
        (2, "d", 0.0),
    ]
    other = values([(1, "a", 1.0), (1, "b", 0.0)], method="y")
    summary = summarise_systems(pd.concat([values(rows), other]), QUERIES)
    assert summary["method"].tolist() == ["x", "y"]
    assert summary["mean"].tolist() == [0.5, 0.5]
    assert summary["seeds"].tolist() == [2, 1]
    assert summary["queries"].tolist() == [3, 2]
    assert summary["groups"].tolist() == [2, 1]
    # every query's mean is .5, then no resampled mean differs; one group has no variation either
    assert summary["low"].tolist() == summary["high"].tolist() == [0.5, 0.5]


def test_a_query_without_a_group_and_seeds_on_other_queries_are_refused():
    with pytest.raises(DataError, match="query z of x is not among the queries of c"):
        summarise_systems(values([(1, "z", 1.0)]), QUERIES)
    with pytest.raises(DataError, match="query b of x was not measured for all 2 seeds"):
        summarise_systems(values([(1, "a", 1.0), (2, "a", 1.0), (1, "b", 1.0)]), QUERIES)
