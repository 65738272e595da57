"""AUC and Spearman per query against hand-made numbers, all pairs counted, and scipy."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from poolbias.evaluation.association import auc, spearman


def frame_of(**queries):
    rows = [
        (query, score, outcome)
        for query, pairs in queries.items()
        for score, outcome in zip(*pairs, strict=True)
    ]
    return pd.DataFrame(rows, columns=["query_id", "score", "outcome"])


BY_HAND = frame_of(
    b=([3.0, 2.0, 1.0], [1, 0, 1]),  # above one of two others, below one: 1 of 2
    a=([3.0, 2.0, 1.0], [1, 0, 0]),  # above both
    c=([1.0, 1.0, 2.0, 0.0], [1, 0, 0, 0]),  # one tie of three: (0.5 + 0 + 1) / 3
    d=([1.0, 2.0], [1, 1]),  # nothing to tell apart
    e=([1.0, 2.0], [0, 0]),
    f=([5.0, 5.0, 5.0], [1, 0, 1]),  # all tied
    g=([math.inf, 1.0, math.inf, 0.0], [1, 0, 0, 1]),  # (1 and half a tie) and (0, 0) of 4
)


def test_auc_by_hand():
    found = auc(BY_HAND, "score", "outcome")
    assert found.to_dict() == pytest.approx({"a": 1, "b": 0.5, "c": 0.5, "f": 0.5, "g": 0.375})
    assert list(found.index) == sorted(found.index)
    turned = auc(BY_HAND.assign(outcome=1 - BY_HAND["outcome"]), "score", "outcome")
    assert (turned + found).tolist() == pytest.approx([1] * 5)


def test_auc_counts_all_pairs():
    generator = np.random.default_rng(3)
    scores, outcomes = generator.integers(0, 6, 40), generator.integers(0, 2, 40)
    wins = [
        (hit > other) + 0.5 * (hit == other)
        for hit in scores[outcomes == 1]
        for other in scores[outcomes == 0]
    ]
    assert len(set(wins)) == 3
    found = auc(frame_of(q=(scores, outcomes)), "score", "outcome")
    assert found["q"] == pytest.approx(sum(wins) / len(wins))


def test_spearman_by_hand_and_by_scipy():
    found = spearman(BY_HAND, "score", "outcome")
    # a: ranks 3 2 1 and 3 1.5 1.5, deviations 1 0 -1 and 1 -.5 -.5: 1.5 / sqrt(2 * 1.5)
    assert found["a"] == pytest.approx(math.sqrt(3) / 2)
    assert found["b"] == pytest.approx(0)
    assert found["f"] == 0  # equal scores: no relation, not an error
    assert sorted(found.index) == ["a", "b", "c", "f", "g"]
    generator = np.random.default_rng(4)
    scores, outcomes = generator.integers(0, 9, 50), generator.integers(0, 3, 50)
    one = spearman(frame_of(q=(scores, outcomes)), "score", "outcome")["q"]
    assert one == pytest.approx(spearmanr(scores, outcomes).statistic)


def test_rows_order_changes_nothing():
    shuffled = BY_HAND.sample(frac=1, random_state=2)
    for function in (auc, spearman):
        pd.testing.assert_series_equal(
            function(shuffled, "score", "outcome"), function(BY_HAND, "score", "outcome")
        )


def test_no_query_gives_no_number():
    empty = BY_HAND[:0]
    assert auc(empty, "score", "outcome").empty
    assert spearman(empty, "score", "outcome").empty
