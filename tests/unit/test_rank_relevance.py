"""How likely each rank is relevant, by hand, and the halves that tell it for each other."""

import pandas as pd
import pytest

from poolbias.errors import DataError
from poolbias.filtering.rank_relevance import (
    half_of,
    join_halves,
    rank_relevance,
    read_rank_relevance,
)
from poolbias.formats.tsv import write_table

RUN = pd.DataFrame(
    [("a", "1", 1), ("a", "2", 2), ("b", "1", 1), ("b", "3", 2), ("c", "1", 1), ("d", "1", 1)],
    columns=["query_id", "document_id", "rank"],
)
TRUTH = pd.DataFrame(
    [("a", "1", 1), ("b", "1", 2), ("b", "3", 0), ("e", "9", 1), ("d", "1", 1)],
    columns=["query_id", "document_id", "grade"],
)


def test_counts_over_judged_queries_also_those_without_a_document_there():
    # c is not judged, d is not asked, e has no hit
    table = rank_relevance(RUN, TRUTH, pd.Series(["a", "b", "c", "e"]), 3)
    assert table["rank"].tolist() == [1, 2, 3]
    assert table["queries"].tolist() == [3, 3, 3]
    assert table["relevant"].tolist() == [2, 0, 0]
    assert table["probability"].tolist() == [2 / 3, 0.0, 0.0]
    with pytest.raises(DataError, match="judges none of the queries"):
        rank_relevance(RUN, TRUTH, pd.Series(["c"]), 3)


def test_the_table_survives_its_file_and_is_checked(tmp_path):
    path = tmp_path / "p.tsv"
    write_table(path, rank_relevance(RUN, TRUTH, pd.Series(["a", "b"]), 2))
    assert read_rank_relevance(path) == [1.0, 0.0]
    for text, told in (
        ("1\t0.5\n3\t0.5\n", "need ranks 1, 2"),
        ("1\t1.5\n", "probabilities from 0 to 1"),
        ("one\t0.5\n", "p.tsv: invalid literal"),
    ):
        path.write_text("rank\tprobability\n" + text)
        with pytest.raises(DataError, match=told):
            read_rank_relevance(path)


def test_each_query_is_ranked_by_the_ranker_that_did_not_see_its_half():
    groups = [f"g{i}" for i in range(200)]
    halves = {group: half_of(group) for group in groups}
    assert 80 <= sum(half == 1 for half in halves.values()) <= 120
    queries = pd.DataFrame({"query_id": [f"q{g}" for g in groups], "group": groups})
    rankings = {
        half: queries[["query_id"]].assign(document_id="1", score=float(half)) for half in (1, 2)
    }
    joined = join_halves(rankings, queries).set_index("query_id")["score"]
    assert len(joined) == 200
    assert all(joined[f"q{group}"] == 3 - half for group, half in halves.items())
    with pytest.raises(DataError, match="query qg7 is not among"):
        join_halves(rankings, queries[queries["group"] != "g7"])
