"""The probe's documents, the query that is shown, and the weights, against hand-made runs."""

import math

import numpy as np
import pandas as pd
import pytest

from poolbias import probe, probe_scores
from poolbias.errors import DataError
from poolbias.formats.tsv import write_table

DEPTH = 3


def run_of(**documents):
    """A run: each query's documents in the order of their ranks, `a b c`."""
    rows = [
        (query, document, -float(rank))
        for query, ids in documents.items()
        for rank, document in enumerate(ids.split())
    ]
    return pd.DataFrame(rows, columns=["query_id", "document_id", "score"])


def qrels_of(**documents):
    rows = [(query, document, 1) for query, ids in documents.items() for document in ids.split()]
    return pd.DataFrame(rows, columns=["query_id", "document_id", "grade"])


RUN = run_of(p="a b c d e", q="f g h i", r="k l m n", t="u v w")
LABELS = qrels_of(p="a e d", q="g f", r="z y", s="o")  # t has none, s has no hits
TRUTH = qrels_of(p="a b e d", q="g f", r="z y k", t="u")
POOL = qrels_of(p="a c e d", q="g f", r="z y")


def frame_of(run=RUN, truth=TRUTH, labels=LABELS, pool=POOL, depth=DEPTH):
    return probe.pairs(run, truth, labels, pool, depth)


def test_top_and_paired_documents_by_hand():
    frame = frame_of()
    facts = ["query_id", "document_id", "rank", "relevant", "labelled", "pooled", "paired"]
    assert frame.columns.tolist() == facts
    assert frame.astype("object").where(frame.notna(), None).to_numpy().tolist() == [
        ["p", "a", 1, 1, 1, 1, 0],
        ["p", "b", 2, 1, 0, 0, 0],
        ["p", "c", 3, 0, 0, 1, 0],
        ["p", "d", 4, 1, 1, 1, 1],  # the first labelled one below the top, not e at rank 5
        ["q", "f", 1, 1, 1, 1, 0],
        ["q", "g", 2, 1, 1, 1, 1],  # none below: the last labelled one within
        ["q", "h", 3, 0, 0, 0, 0],
        ["r", "k", 1, 1, 0, 0, 0],
        ["r", "l", 2, 0, 0, 0, 0],
        ["r", "m", 3, 0, 0, 0, 0],
        ["r", "y", None, 1, 1, 1, 1],  # none in the run: the first id
    ]
    assert probe.counts(frame, DEPTH) == {
        "queries": 3,
        "paired_below": 1,
        "paired_within": 1,
        "paired_outside": 1,
    }
    assert probe.top(frame, DEPTH)["document_id"].tolist() == list("abcfghklm")


def test_rows_order_and_grades_change_nothing_they_should_not():
    shuffled = (part.sample(frac=1, random_state=1) for part in (RUN, TRUTH, LABELS, POOL))
    pd.testing.assert_frame_equal(frame_of(*shuffled), frame_of())
    zero = LABELS.assign(grade=(LABELS["document_id"] != "d").astype(int))
    paired = frame_of(labels=zero).query("query_id == 'p' and paired == 1")
    assert paired["document_id"].tolist() == ["e"]  # a grade of 0 is no label
    graded = probe.pairs(RUN, TRUTH, LABELS, POOL, DEPTH, grade=2)
    assert graded["relevant"].sum() == 0


def test_a_pool_that_is_not_known_stays_unknown():
    frame = frame_of(pool=None)
    assert frame["pooled"].isna().all()
    assert frame.drop(columns="pooled").equals(frame_of().drop(columns="pooled"))


def test_the_rank_at_the_edge_belongs_to_the_top():
    within = frame_of(depth=4).query("query_id == 'p' and paired == 1")
    assert within[["document_id", "rank"]].to_numpy().tolist() == [["e", 5]]
    last = frame_of(depth=5).query("query_id == 'p' and paired == 1")
    assert last[["document_id", "rank"]].to_numpy().tolist() == [["e", 5]]
    assert probe.counts(frame_of(depth=5), 5)["paired_within"] == 2


def relevance_of(**relevant):
    """Queries with ten documents each, so many relevant, the paired one below the top or not."""
    rows = []
    for query, count in relevant.items():
        below = not query.endswith("in")
        rows += [(query, rank, int(rank <= count), 0) for rank in range(1, 11)]
        if below:
            rows.append((query, 11, 1, 1))
        else:
            rows[-10] = (query, 1, 1, 1)
    frame = pd.DataFrame(rows, columns=["query_id", "rank", "relevant", "paired"])
    return frame.astype({"rank": "Int64"})


@pytest.mark.parametrize(
    ("relevant", "expected"),
    [
        ({"a": 3, "b": 7, "c": 7, "d": 2}, "b"),  # most relevant, then the first id
        ({"a": 10, "b": 9, "c": 8}, "b"),  # nine tenths may be relevant, ten may not
        ({"a_in": 9, "b": 4}, "b"),  # paired below the top, as the paper's
        ({"a_in": 9, "b": 10}, "a_in"),  # one that is mixed before one paired below
        ({"a": 10, "b": 10}, "a"),
    ],
)
def test_the_query_that_is_shown(relevant, expected):
    frame = relevance_of(**relevant)
    assert probe.case(frame, 10) == expected
    assert probe.case(frame[::-1], 10) == expected


def test_no_query_to_show_is_told():
    with pytest.raises(DataError, match="no query of the run has a labelled document"):
        probe.case(frame_of(labels=qrels_of(s="o")), DEPTH)


def test_a_sample_holds_the_shown_query_and_does_not_move_with_others():
    ids = [f"q{number:02}" for number in range(40)]
    drawn = probe.sample(ids, 10, "q00")
    assert set(drawn) <= set(ids)
    assert "q00" in drawn
    assert len(drawn) in (10, 11)
    assert drawn == probe.sample(ids[::-1], 10, "q00") == sorted(drawn)
    assert probe.sample(ids, 10, "q00", seed=1) != drawn
    more = probe.sample([*ids, "q99"], 10, "q00")
    assert len(set(drawn) - set(more)) <= 1
    assert probe.sample(ids, 40, "q00") == ids == probe.sample(ids, 50, "q00")


def test_a_query_that_cannot_be_shown_is_told():
    with pytest.raises(DataError, match=r"figure_5\.query: found 'x', .*such as p; name another"):
        probe.sample(["q", "p"], 1, "x")


def test_weights_are_those_of_the_other_model(monkeypatch):
    frame = frame_of()
    frame = frame.assign(query_row=0, document_row=range(len(frame)))
    scores = {"R": np.arange(11, dtype=np.float32) / 4, "S": np.sqrt(np.arange(11, dtype="f4"))}

    class Scored:
        def __init__(self, scores):
            self.scores = scores

    monkeypatch.setattr(probe_scores, "score_pairs", lambda model, *_: Scored(scores[model]))
    models = {"R": "R", "S": "S"}
    paper = probe_scores.add_scores(frame, models, "", {"form": "paper", "temperature": 2.0})
    released = probe_scores.add_scores(frame, models, "", {"form": "released", "temperature": 2.0})
    of_pair = dict(zip("pqr", (3, 5, 10), strict=True))  # rows of the paired documents
    for row, (_, line) in enumerate(paper.iterrows()):
        pair = of_pair[line["query_id"]]
        assert line["w_r"] == pytest.approx(math.exp((math.sqrt(row) - math.sqrt(pair)) / 2))
        assert line["w_s"] == pytest.approx(math.exp((row - pair) / 4 / 2))
        assert released["w_r"].iloc[row] == pytest.approx(1 + math.exp(math.sqrt(row) / 2))
    assert paper.loc[paper["paired"] == 1, "w_r"].tolist() == [1.0, 1.0, 1.0]
    assert paper["r"].tolist() == scores["R"].tolist()


def test_a_probe_survives_its_file(tmp_path):
    frame = frame_of(pool=None).assign(step=6, r=0.25, s=1e-30, w_r=np.inf, w_s=0.0)
    frame = frame[probe.COLUMNS]
    write_table(tmp_path / "probe.tsv.gz", frame, floats="%.9g")
    read = probe.read_probe(tmp_path / "probe.tsv.gz")
    pd.testing.assert_frame_equal(read, frame.astype({"pooled": "Int64"}))
    wrong = frame.astype("object").assign(w_s="x")
    write_table(tmp_path / "wrong.tsv", wrong)
    with pytest.raises(DataError, match=r"wrong\.tsv: w_s: .*run the probe again"):
        probe.read_probe(tmp_path / "wrong.tsv")
