import logging

import pandas as pd
import pytest

from poolbias.errors import ConfigError, DataError
from poolbias.evaluation.false_negatives import pooled, read_shares, shares
from poolbias.formats.tsv import write_table


def run_of(**ranked):
    rows = [(q, d, -float(rank)) for q, ds in ranked.items() for rank, d in enumerate(ds.split())]
    return pd.DataFrame(rows, columns=["query_id", "document_id", "score"])


def qrels_of(**relevant):
    rows = [(q, *d.split(":")) for q, documents in relevant.items() for d in documents.split()]
    frame = pd.DataFrame(rows, columns=["query_id", "document_id", "grade"])
    return frame.astype({"grade": int})


RUN = run_of(q="a b c d", p="a b", unlabelled="a b c d", r="a")
LABELS = qrels_of(q="a:1 x:1", p="z:1", lost="a:1", r="a:1", graded="a:0")
TRUTH = qrels_of(q="a:1 b:1 d:1 c:0", p="z:1", unlabelled="a:1", lost="a:1", r="a:1", graded="a:1")


def test_shares_by_hand():
    found = shares(RUN, LABELS, TRUTH, depths=[2, 4])
    # q: top 2 = a (label), b (relevant): 1 of 1; top 4 adds c and d (relevant): 2 of 3.
    # p: no label in the run, nothing relevant; r: its one candidate is the label; lost: no hits.
    assert found.drop(columns="share").to_numpy().tolist() == [
        ["lost", 2, 0, 0],
        ["lost", 4, 0, 0],
        ["p", 2, 2, 0],
        ["p", 4, 2, 0],
        ["q", 2, 1, 1],
        ["q", 4, 3, 2],
        ["r", 2, 0, 0],
        ["r", 4, 0, 0],
    ]
    share = found.set_index(["query_id", "depth"])["share"]
    assert share["q", 4] == pytest.approx(2 / 3)
    assert share["p", 4] == 0.0
    assert share[["lost", "r"]].isna().all()


def test_pooled_divides_sums():
    total = pooled(shares(RUN, LABELS, TRUTH, depths=[2, 4]))
    assert total["share"].tolist() == pytest.approx([1 / 3, 2 / 5])
    assert total["queries"].tolist() == [4, 4]


def test_only_queries_with_a_label_and_a_truth_count():
    found = shares(RUN, LABELS, TRUTH[TRUTH["query_id"] != "q"], depths=[4])
    assert found["query_id"].tolist() == ["lost", "p", "r"]


def test_grade_from_which_truth_is_relevant():
    truth = qrels_of(q="b:1 c:2")
    labels = qrels_of(q="a:1")
    run = run_of(q="a b c")
    assert shares(run, labels, truth, depths=[3])["false_negatives"].tolist() == [2]
    assert shares(run, labels, truth, depths=[3], grade=2)["false_negatives"].tolist() == [1]


def test_order_of_rows_does_not_matter():
    expected = shares(RUN, LABELS, TRUTH, depths=[2, 4])
    found = shares(RUN[::-1], LABELS[::-1], TRUTH[::-1], depths=[2, 4])
    pd.testing.assert_frame_equal(found, expected)


def test_depth_beyond_the_run_is_told_and_a_wrong_one_refused(caplog):
    with caplog.at_level(logging.WARNING, "poolbias"):
        shares(RUN, LABELS, TRUTH, depths=[100])
    assert "no deeper than 4" in caplog.text
    with pytest.raises(ConfigError, match="found 0"):
        shares(RUN, LABELS, TRUTH, depths=[0])


def test_shares_survive_their_file_and_a_wrong_count_is_told(tmp_path):
    expected = shares(RUN, LABELS, TRUTH, depths=[2, 4])
    write_table(tmp_path / "shares.tsv", expected)
    pd.testing.assert_frame_equal(
        read_shares(tmp_path / "shares.tsv"), expected.drop(columns="share")
    )
    text = (tmp_path / "shares.tsv").read_text().replace("q\t4\t3", "q\t4\t-3")
    (tmp_path / "shares.tsv").write_text(text)
    with pytest.raises(DataError, match=r"shares\.tsv:7: unlabelled is '-3'"):
        read_shares(tmp_path / "shares.tsv")
