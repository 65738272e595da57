"""From a run to a candidates table, against a hand-made run, labels, truth and scores."""

import numpy as np
import pandas as pd
import pytest

from poolbias import negatives
from poolbias.errors import ConfigError, DataError
from poolbias.filtering import unlabelled as filtering
from poolbias.filtering.counts import count, figures_of, read_counts
from poolbias.filtering.pair_scores import PairScores
from poolbias.filtering.table import assemble
from poolbias.formats.tsv import write_table

RUN = [  # query, document, rank, score
    ("a", "1", 1, 9.0), ("a", "2", 2, 8.0), ("a", "3", 3, 7.0), ("a", "4", 4, 6.0),
    ("a", "7", 5, 1.0),
    ("b", "2", 1, 5.0), ("b", "5", 2, 4.0),
    ("c", "1", 1, 3.0),
]  # fmt: skip
LABELS = [("a", "2"), ("b", "2"), ("b", "5"), ("a", "9")]
TRUTH = [*LABELS, ("a", "3"), ("c", "1")]
QUERIES = {"a": 0, "b": 1, "c": 2}
DOCUMENTS = {str(i): i for i in range(10)}


def qrels(pairs):
    return pd.DataFrame(pairs, columns=["query_id", "document_id"]).assign(grade=1)


def candidates(depth=4, truth=True, order=1):
    run = pd.DataFrame(RUN, columns=["query_id", "document_id", "rank", "score"]).iloc[::order]
    return filtering.unlabelled(
        run, qrels(LABELS[::order]), qrels(TRUTH) if truth else None, QUERIES, DOCUMENTS, depth
    )


def table(name, **kwargs):
    found = candidates(**kwargs)
    return assemble(found, negatives.get(name)(found.frame, {}))


def scores(pairs):
    rows = sorted(pairs)
    return PairScores(
        np.array([query for query, _ in rows], np.int32),
        np.array([document for _, document in rows], np.int32),
        np.array([pairs[row] for row in rows], np.float32),
    )


@pytest.mark.parametrize("order", [1, -1])
def test_uniform_draws_from_the_unlabelled_of_labelled_queries(order):
    uniform, counts = table("uniform", order=order)
    assert uniform.query_rows.tolist() == [0]  # b has no unlabelled candidate, c no label
    assert uniform.documents.tolist() == [1, 3, 4]
    assert uniform.ranks.tolist() == [1, 3, 4]
    np.testing.assert_allclose(uniform.probability, 1 / 3)
    assert uniform.relevant.tolist() == [0, 1, 0]
    assert uniform.positives.tolist() == [2, 9]
    assert uniform.positive_offsets.tolist() == [0, 2]
    figures = figures_of(counts)
    assert figures["queries_labelled"] == 2
    assert figures["queries_without_candidates"] == 1
    assert figures["false_negative_share_before"] == pytest.approx(1 / 3)
    assert figures["false_negative_draws"] == pytest.approx(1 / 3)


def test_depth_counts_the_labelled_ranks():
    uniform, _ = table("uniform", depth=2)
    assert uniform.documents.tolist() == [1]


def test_oracle_removes_just_the_false_negatives():
    oracle, counts = table("oracle")
    assert oracle.documents.tolist() == [1, 4]
    np.testing.assert_allclose(oracle.probability, 0.5)
    figures = figures_of(counts)
    assert figures["candidates_removed"] == 1
    assert figures["removed_precision"] == figures["removed_recall"] == 1.0
    assert figures["false_negative_share_after"] == 0.0


@pytest.mark.parametrize("name", ["oracle", "oracle_matched"])
def test_choices_by_the_truth_are_refused_without_it(name):
    with pytest.raises(ConfigError, match=f"'{name}' need the collection's truth"):
        table(name, truth=False)


def test_without_the_truth_nothing_is_told_of_relevance():
    uniform, counts = table("uniform", truth=False)
    assert uniform.relevant is None
    assert list(counts) == ["query_id", "candidates", "kept"]
    assert "false_negative_draws" not in figures_of(counts)


def test_a_document_that_the_collection_does_not_hold_is_named():
    run = pd.DataFrame([("a", "77", 1, 0.5)], columns=["query_id", "document_id", "rank", "score"])
    with pytest.raises(DataError, match="document '77' of query a is not in the collection"):
        filtering.unlabelled(run, qrels(LABELS), None, QUERIES, DOCUMENTS, 5)


def test_labelled_documents_have_the_runs_score_or_its_lowest():
    labels = candidates(depth=2).labels
    assert labels["document_row"].tolist() == [2, 9, 2, 5]
    assert labels["score"].tolist() == [8.0, 1.0, 5.0, 4.0]  # 9 is nowhere: 1.0, far below depth
    assert labels["retrieved"].tolist() == [True, False, True, True]


@pytest.mark.parametrize(("which", "score"), [("lowest", 1.0), ("mean", 4.5), ("highest", 8.0)])
def test_of_several_labelled_documents_one_score_is_compared_with(which, score):
    found = filtering.with_positive_score(candidates(), which)
    assert found.frame["positive_score"].tolist() == [score] * 3
    assert found.figures == {"labels_not_retrieved": 1}


def test_another_word_for_the_positive_is_refused():
    with pytest.raises(ConfigError, match="positive is 'best', need one of lowest, mean, highest"):
        filtering.with_positive_score(candidates(), "best")


def test_a_teachers_scores_take_the_place_of_the_retrievers():
    taught = scores({(0, 1): 0.5, (0, 4): -2.0, (0, 2): 3.0, (0, 9): 1.0, (1, 2): 0, (1, 5): 0})
    found = filtering.with_positive_score(filtering.with_scores(candidates(), taught), "mean")
    assert found.frame["document_row"].tolist() == [1, 4]  # 3 was not scored
    assert found.frame["score"].tolist() == [0.5, -2.0]
    assert found.frame["positive_score"].tolist() == [2.0, 2.0]
    assert found.figures == {"candidates_not_scored": 1, "labels_not_retrieved": 0}
    with pytest.raises(DataError, match="a labelled document of query b has no score"):
        filtering.with_scores(candidates(), scores({(0, 2): 3.0, (0, 9): 1.0, (1, 2): 0}))


def test_what_annotators_saw_is_marked():
    pool = pd.DataFrame([("a", "4"), ("a", "8"), ("b", "1")], columns=["query_id", "document_id"])
    found = filtering.with_selected(candidates(), pool, QUERIES, DOCUMENTS)
    assert found.frame["selected"].tolist() == [False, False, True]


def test_a_teacher_scores_all_or_a_sample_of_each_query():
    everything = filtering.pairs_to_score(candidates(), None, 1)
    assert everything.to_numpy().tolist() == [
        [0, 1],
        [0, 2],
        [0, 3],
        [0, 4],
        [0, 9],
        [1, 2],
        [1, 5],
    ]
    chosen = {
        tuple(map(tuple, filtering.pairs_to_score(candidates(), 2, seed).to_numpy().tolist()))
        for seed in range(30)
    }
    labelled = {(0, 2), (0, 9), (1, 2), (1, 5)}
    assert all(labelled <= set(pairs) and len(pairs) == 6 for pairs in chosen)
    assert {frozenset(set(pairs) - labelled) for pairs in chosen} == {
        frozenset({(0, 1), (0, 3)}),
        frozenset({(0, 1), (0, 4)}),
        frozenset({(0, 3), (0, 4)}),
    }


def test_a_sample_of_the_collection_is_keyed_by_query_and_covers_it():
    ids = [str(i) for i in range(10)]
    run = filtering.sampled_run(["a", "b"], ids, 4, seed=1)
    assert run["rank"].tolist() == [1, 2, 3, 4] * 2
    assert run.groupby("query_id")["document_id"].nunique().tolist() == [4, 4]
    alone = filtering.sampled_run(["b"], ids, 4, seed=1)
    assert alone["document_id"].tolist() == run["document_id"].tolist()[4:]
    other = filtering.sampled_run(["a", "b"], ids, 4, seed=2)
    assert other["document_id"].tolist() != run["document_id"].tolist()
    drawn = filtering.sampled_run([str(i) for i in range(2000)], ids, 4, seed=1)
    shares = drawn["document_id"].value_counts(normalize=True)
    assert shares.between(0.09, 0.11).all()  # sd .003
    assert len(filtering.sampled_run(["a"], ids, 99, seed=1)) == 10
    assert filtering.sampled_run([], ids, 4, seed=1).empty


def test_a_query_left_with_nothing_leaves_the_table_and_is_counted():
    found = candidates()
    empty, counts = assemble(found, np.zeros(3))
    assert len(empty) == 0
    assert empty.offsets.tolist() == [0]
    assert counts["candidates"].tolist() == [3, 0]
    assert figures_of(counts) == {
        "queries_labelled": 2,
        "queries": 0,
        "queries_without_candidates": 2,
        "candidates_kept": 0,
        "candidates_removed": 3,
        "false_negative_share_before": pytest.approx(1 / 3),
        "false_negative_share_after": 0.0,
        "false_negative_draws": 0.0,
        "removed_precision": pytest.approx(1 / 3),
        "removed_recall": 1.0,
    }


def test_weights_become_probabilities_and_a_weight_of_zero_leaves():
    drawn, counts = assemble(candidates(), np.array([3.0, 1.0, 0.0]))
    assert drawn.documents.tolist() == [1, 3]
    np.testing.assert_allclose(drawn.probability, [0.75, 0.25])
    assert counts.loc[0, "false_negative_draws"] == 0.25


def test_counts_by_hand_and_their_file(tmp_path):
    frame = pd.DataFrame(
        {"query_id": ["a"] * 4 + ["b"], "relevant": [True, True, False, False, True]}
    )
    counts = count(frame, np.array([0.5, 0.0, 0.5, 0.0, 1.0]), ["a", "b", "z"])
    assert counts.to_numpy().tolist() == [
        ["a", 4, 2, 2, 1, 0.5],
        ["b", 1, 1, 1, 1, 1.0],
        ["z", 0, 0, 0, 0, 0.0],
    ]
    figures = figures_of(counts)
    assert (figures["candidates_kept"], figures["candidates_removed"]) == (3, 2)
    assert figures["false_negative_draws"] == 0.75
    assert (figures["removed_precision"], figures["removed_recall"]) == (0.5, pytest.approx(1 / 3))
    write_table(tmp_path / "counts.tsv", counts)
    pd.testing.assert_frame_equal(read_counts(tmp_path / "counts.tsv"), counts)
    (tmp_path / "counts.tsv").write_text("query_id\tcandidates\tkept\na\tmany\t1\n")
    with pytest.raises(DataError, match=r"counts\.tsv: invalid literal .*many"):
        read_counts(tmp_path / "counts.tsv")


def test_scores_survive_their_files_and_are_checked(tmp_path):
    made = scores({(0, 1): 0.5, (0, 4): -2.0, (3, 0): 7.0})
    made.save(tmp_path)
    again = PairScores.load(tmp_path)
    asked = pd.DataFrame({"query_row": [3, 0, 1], "document_row": [0, 4, 4]})
    np.testing.assert_array_equal(again.of(asked), [7.0, -2.0, np.nan])
    none = PairScores(*(np.empty(0, kind) for kind in (np.int32, np.int32, np.float32)))
    assert np.isnan(none.of(asked)).all()
    np.save(tmp_path / "document_rows.npy", np.array([4, 1, 0], np.int32))
    with pytest.raises(DataError, match="pairs are not sorted"):
        PairScores.load(tmp_path)
    (tmp_path / "scores.npy").unlink()
    with pytest.raises(DataError, match=r"scores\.npy: cannot be read"):
        PairScores.load(tmp_path)
