import logging
import math

import numpy as np
import pandas as pd
import pytest

from poolbias.errors import ConfigError, DataError
from poolbias.evaluation import evaluate, missing, summarise
from poolbias.evaluation.measures import read_per_query

ALL = ["RR@10", "RR", "nDCG@10", "nDCG@100", "R@100", "Success@1", "AP", "P@2"]


def run_of(*rows):
    return pd.DataFrame(rows, columns=["query_id", "document_id", "score"])


def qrels_of(*rows):
    return pd.DataFrame(rows, columns=["query_id", "document_id", "grade"])


def values(frame):
    return dict(
        zip(zip(frame["query_id"], frame["measure"], strict=True), frame["value"], strict=True)
    )


def test_measures_by_hand():
    run = run_of(("q", "a", 4.0), ("q", "b", 3.0), ("q", "c", 2.0), ("q", "d", 1.0))
    qrels = qrels_of(("q", "b", 1), ("q", "d", 3), ("q", "z", 2), ("q", "a", 0))
    found = values(
        evaluate(
            run,
            qrels,
            [
                "RR@10",
                "RR(rel=2)@10",
                "R@100",
                "R@2",
                "nDCG@10",
                "Success@1",
                "Success@2",
                "P@4",
                "RR(rel=2)@3",
            ],
        )
    )
    # Ranks: a irrelevant, b grade 1 (rank 2), c unjudged, d grade 3 (rank 4); z not found.
    gain = 1 / math.log2(3) + 3 / math.log2(5)
    ideal = 3 / math.log2(2) + 2 / math.log2(3) + 1 / math.log2(4)
    expected = {
        "RR@10": 1 / 2,
        "RR(rel=2)@10": 1 / 4,
        "RR(rel=2)@3": 0.0,
        "R@100": 2 / 3,
        "R@2": 1 / 3,
        "nDCG@10": gain / ideal,
        "Success@1": 0.0,
        "Success@2": 1.0,
        "P@4": 1 / 2,
    }
    assert {name: found["q", name] for name in expected} == pytest.approx(expected)


def test_grades_of_ndcg_do_not_depend_on_other_measures():
    run = run_of(("q", "a", 2.0), ("q", "b", 1.0))
    qrels = qrels_of(("q", "a", 1), ("q", "b", 2))
    alone = values(evaluate(run, qrels, ["nDCG@10"]))["q", "nDCG@10"]
    beside = values(evaluate(run, qrels, ["R(rel=2)@1", "nDCG@10"]))["q", "nDCG@10"]
    assert alone == beside == pytest.approx((1 + 2 / math.log2(3)) / (2 + 1 / math.log2(3)))


@pytest.mark.parametrize(("relevant", "rank"), [("a", 1), ("b", 2), ("c", 3)])
def test_all_tied_means_document_order_for_every_measure(relevant, rank):
    run = run_of(("q", "c", 1.0), ("q", "a", 1.0), ("q", "b", 1.0))
    found = values(evaluate(run, qrels_of(("q", relevant, 1)), ALL))
    assert found["q", "RR@10"] == found["q", "RR"] == pytest.approx(1 / rank)
    assert found["q", "nDCG@10"] == found["q", "nDCG@100"] == pytest.approx(1 / math.log2(rank + 1))
    assert found["q", "AP"] == pytest.approx(1 / rank)
    assert found["q", "Success@1"] == float(rank == 1)


def random_case(generator):
    documents = [f"d{number}" for number in range(30)]
    rows = [
        (f"q{query}", document, float(generator.integers(4)))
        for query in range(4)
        for document in generator.choice(documents, 20, replace=False)
    ]
    judged = [
        (f"q{query}", f"d{number}", int(generator.integers(3)))
        for query in range(5)
        for number in range(0, 30, 3)
    ]
    return run_of(*rows), qrels_of(*judged)


def reciprocal_rank(run, qrels, query, cut):
    """An oracle in plain Python: sort, walk, stop at the first relevant document."""
    own = run[run["query_id"] == query]
    order = sorted(zip(-own["score"], own["document_id"], strict=True))
    relevant = set(qrels.loc[(qrels["query_id"] == query) & (qrels["grade"] > 0), "document_id"])
    hits = [rank for rank, (_, document) in enumerate(order[:cut], 1) if document in relevant]
    return 1 / hits[0] if hits else 0.0


def test_rows_in_any_order_give_the_same_numbers_and_rr_agrees_with_an_oracle():
    generator = np.random.default_rng(7)
    for _ in range(10):
        run, qrels = random_case(generator)
        first = evaluate(run, qrels, ALL)
        shuffled = evaluate(
            run.sample(frac=1, random_state=generator),
            qrels.sample(frac=1, random_state=generator),
            ALL,
        )
        pd.testing.assert_frame_equal(first, shuffled)
        pd.testing.assert_frame_equal(summarise(first), summarise(shuffled))
        found = values(first)
        for query in sorted(set(qrels["query_id"])):
            assert found[query, "RR@10"] == pytest.approx(reciprocal_rank(run, qrels, query, 10))
            assert found[query, "RR"] == pytest.approx(reciprocal_rank(run, qrels, query, 1000))


def test_second_evaluation_is_not_touched_by_the_first():
    generator = np.random.default_rng(8)
    run, qrels = random_case(generator)
    other, _ = random_case(generator)
    alone = evaluate(other, qrels, ALL)
    evaluate(run, qrels, ALL)
    pd.testing.assert_frame_equal(evaluate(other, qrels, ALL), alone)
    assert alone["value"].sum() > 0


def test_missing_queries_count_zero_and_are_told(caplog):
    run = run_of(("q1", "a", 1.0), ("unjudged", "a", 1.0))
    qrels = qrels_of(("q1", "a", 1), ("q2", "a", 1), ("q3", "a", 0))
    with caplog.at_level(logging.WARNING, "poolbias"):
        frame = evaluate(run, qrels, ["RR@10", "R@100"])
    assert frame["query_id"].tolist() == ["q1", "q1", "q2", "q2", "q3", "q3"]
    assert frame["value"].tolist() == [1.0, 1.0, 0.0, 0.0, 0.0, 0.0]
    assert missing(run, qrels) == ["q2", "q3"]
    assert "2 judged queries" in caplog.text
    means = summarise(frame)
    assert means["measure"].tolist() == ["RR@10", "R@100"]
    assert means["mean"].tolist() == pytest.approx([1 / 3, 1 / 3])
    assert means["queries"].tolist() == [3, 3]


def test_query_judged_without_a_relevant_document_counts_zero():
    run = run_of(("q1", "a", 1.0), ("q2", "a", 1.0))
    frame = evaluate(run, qrels_of(("q1", "a", 1), ("q2", "a", 0)), ALL)
    assert frame.loc[frame["query_id"] == "q2", "value"].tolist() == [0.0] * len(ALL)


def test_no_shared_query_stops():
    with pytest.raises(DataError, match=r"share no query \(first judged: q, first of the run: Q\)"):
        evaluate(run_of(("Q", "a", 1.0)), qrels_of(("q", "a", 1)), ["RR@10"])


def test_duplicate_judgements_and_nan_scores_stop():
    run = run_of(("q", "a", 1.0))
    with pytest.raises(DataError, match="document a is judged twice for query q"):
        evaluate(run, qrels_of(("q", "a", 1), ("q", "a", 0)), ["RR@10"])
    with pytest.raises(DataError, match="query q, document b"):
        evaluate(run_of(("q", "a", 1.0), ("q", "b", np.nan)), qrels_of(("q", "a", 1)), ["RR@10"])


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("ndgc@10", "nDCG@10"),
        ("MRR@10", "spelled 'RR@10'"),
        ("mrr@10", "RR@10"),
        ("R", "R@100"),
        ("recall@50", "R@100"),
        ("NumQ", "nDCG@10"),
        ("ERR@10", "RR@10"),
        ("RR@0", "RR@10"),
        ("RR(foo=1)@10", "RR@10"),
        ("import os", "RR@10"),
        ("", "RR@10"),
    ],
)
def test_unknown_measure_is_named_with_near_ones(name, near):
    with pytest.raises(ConfigError) as caught:
        evaluate(run_of(("q", "a", 1.0)), qrels_of(("q", "a", 1)), ["RR@10", name])
    assert repr(name) in str(caught.value)
    assert near in str(caught.value)


def test_per_query_file_with_a_value_that_is_no_number(tmp_path):
    path = tmp_path / "test.truth.tsv"
    path.write_text("query_id\tmeasure\tvalue\n07\tRR@10\t0.5\nq\tRR@10\tx\n")
    with pytest.raises(DataError, match=r"test\.truth\.tsv:3: value is 'x'"):
        read_per_query(path)
    path.write_text("query_id\tmeasure\tvalue\n07\tRR@10\t0.5\n")
    assert read_per_query(path).to_dict("records") == [
        {"query_id": "07", "measure": "RR@10", "value": 0.5}
    ]
