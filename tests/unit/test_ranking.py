import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolbias.errors import DataError
from poolbias.evaluation import canonical, ties


def run_of(*rows):
    return pd.DataFrame(rows, columns=["query_id", "document_id", "score"])


def test_order_is_query_then_score_then_document_as_text():
    ranked = canonical(
        run_of(
            ("10", "b", 1.0), ("9", "x", 0.5), ("10", "a", 1.0), ("10", "9", 2.0), ("10", "10", 1.0)
        )
    )
    assert ranked["query_id"].tolist() == ["10", "10", "10", "10", "9"]
    assert ranked["document_id"].tolist() == ["9", "10", "a", "b", "x"]
    assert ranked["rank"].tolist() == [1, 2, 3, 4, 1]
    assert ranked["score"].tolist() == [2.0, 1.0, 1.0, 1.0, 0.5]
    assert ranked["score"].dtype == np.float32
    assert ranked["rank"].dtype == np.int64


def test_scores_that_differ_only_beyond_float32_are_ties_broken_by_document():
    ranked = canonical(run_of(("q", "b", 1.0 + 1e-12), ("q", "a", 1.0)))
    assert ranked["document_id"].tolist() == ["a", "b"]


def test_a_rank_column_that_lies_is_ignored():
    run = run_of(("q", "a", 0.1), ("q", "b", 0.9)).assign(rank=[1, 2])
    assert canonical(run)["document_id"].tolist() == ["b", "a"]


def test_canonical_twice_is_canonical_once():
    run = run_of(("q", "a", 0.1), ("q", "b", 0.9), ("p", "c", 3.0))
    once = canonical(run)
    pd.testing.assert_frame_equal(canonical(once), once)


rows = st.lists(
    st.tuples(st.sampled_from("pqr"), st.sampled_from("abcdef"), st.sampled_from([0.0, -0.0, 1.0])),
    min_size=1,
    max_size=18,
    unique_by=lambda row: row[:2],
)


@given(rows, st.randoms(use_true_random=False))
def test_order_of_rows_never_matters(pairs, random):
    shuffled = list(pairs)
    random.shuffle(shuffled)
    pd.testing.assert_frame_equal(canonical(run_of(*pairs)), canonical(run_of(*shuffled)))


@pytest.mark.parametrize("score", [np.nan, np.inf, -np.inf, 1e39])
def test_score_that_is_no_finite_float32_names_query_and_document(score):
    with pytest.raises(DataError, match=r"query q7, document d3: score is .*finite float32"):
        canonical(run_of(("q7", "d1", 1.0), ("q7", "d3", score)))


def test_duplicate_names_query_and_document():
    with pytest.raises(DataError, match="document d stands twice for query q"):
        canonical(run_of(("q", "d", 3.0), ("p", "d", 2.0), ("q", "d", 1.0)))


def test_missing_column_and_missing_id_are_told():
    with pytest.raises(DataError, match="column 'score' is missing"):
        canonical(pd.DataFrame({"query_id": ["q"], "document_id": ["d"]}))
    with pytest.raises(DataError, match="row 1 has no document_id"):
        canonical(run_of(("q", "d", 1.0), ("q", None, 0.5)))


def test_ties_counts_equal_neighbours_within_queries_only():
    # q: 2 neighbours (one tie); p: 1 neighbour (no tie); q's last and p's first both score 1.
    run = run_of(
        ("q", "a", 1.0), ("q", "b", 1.0), ("q", "c", 2.0), ("p", "d", 1.0), ("p", "e", 0.0)
    )
    assert ties(run) == pytest.approx(1 / 3)
    assert ties(run_of(("q", "a", 1.0), ("p", "a", 1.0))) == 0.0
    assert ties(run_of(("q", "a", 1.0), ("q", "b", 1.0))) == 1.0
