"""The candidates table against a hand-made run, labels and truth."""

import numpy as np
import pandas as pd
import pytest

from poolbias import candidates, negatives
from poolbias.candidates import Candidates
from poolbias.errors import ConfigError, DataError

RUN = [  # query, document, rank
    ("a", "1", 1), ("a", "2", 2), ("a", "3", 3), ("a", "4", 4),
    ("b", "2", 1), ("b", "5", 2),
    ("c", "1", 1),
]  # fmt: skip
LABELS = [("a", "2"), ("b", "2"), ("b", "5"), ("a", "9")]
TRUTH = [*LABELS, ("a", "3"), ("c", "1")]
QUERIES = {"a": 0, "b": 1, "c": 2}
DOCUMENTS = {str(i): i for i in range(10)}


def qrels(pairs):
    return pd.DataFrame(pairs, columns=["query_id", "document_id"]).assign(grade=1)


def pools(depth=4, truth=True, order=1):
    run = pd.DataFrame(RUN, columns=["query_id", "document_id", "rank"]).iloc[::order]
    run = run.assign(score=-run["rank"])
    return candidates.unlabelled(
        run, qrels(LABELS[::order]), qrels(TRUTH) if truth else None, QUERIES, DOCUMENTS, depth
    )


def table(name, **kwargs):
    found = pools(**kwargs)
    return candidates.assemble(found, negatives.get(name)(found.frame, {}))


@pytest.mark.parametrize("order", [1, -1])
def test_uniform_draws_from_the_unlabelled_of_labelled_queries(order):
    uniform, figures = table("uniform", order=order)
    assert uniform.query_rows.tolist() == [0]  # b has no unlabelled candidate, c no label
    assert uniform.documents.tolist() == [1, 3, 4]
    assert uniform.ranks.tolist() == [1, 3, 4]
    np.testing.assert_allclose(uniform.probability, 1 / 3)
    assert uniform.relevant.tolist() == [0, 1, 0]
    assert uniform.positives.tolist() == [2, 9]
    assert uniform.positive_offsets.tolist() == [0, 2]
    assert figures["queries_labelled"] == 2
    assert figures["queries_without_candidates"] == 1
    assert figures["false_negative_share_before"] == pytest.approx(1 / 3)
    assert figures["false_negative_draws"] == pytest.approx(1 / 3)


def test_depth_counts_the_labelled_ranks():
    uniform, _ = table("uniform", depth=2)
    assert uniform.documents.tolist() == [1]


def test_oracle_removes_just_the_false_negatives():
    oracle, figures = table("oracle")
    assert oracle.documents.tolist() == [1, 4]
    np.testing.assert_allclose(oracle.probability, 0.5)
    assert figures["candidates_removed"] == 1
    assert figures["removed_precision"] == figures["removed_recall"] == 1.0
    assert figures["false_negative_share_after"] == 0.0


def test_oracle_without_truth_is_refused_and_uniform_knows_no_relevance():
    with pytest.raises(ConfigError, match="need the collection's truth"):
        table("oracle", truth=False)
    uniform, figures = table("uniform", truth=False)
    assert uniform.relevant is None
    assert "false_negative_draws" not in figures


def test_the_table_survives_its_files(tmp_path):
    uniform, _ = table("uniform")
    uniform.save(tmp_path)
    again = Candidates.load(tmp_path)
    for name, array in vars(uniform).items():
        np.testing.assert_array_equal(getattr(again, name), array)
    (tmp_path / "ranks.npy").write_bytes(b"")
    with pytest.raises(DataError, match=r"ranks\.npy: cannot be read"):
        Candidates.load(tmp_path)


def test_a_document_that_the_collection_does_not_hold_is_named():
    run = pd.DataFrame([("a", "77", 1, 0.5)], columns=["query_id", "document_id", "rank", "score"])
    with pytest.raises(DataError, match="document '77' of query a is not in the collection"):
        candidates.unlabelled(run, qrels(LABELS), None, QUERIES, DOCUMENTS, 5)
