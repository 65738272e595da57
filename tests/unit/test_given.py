"""Collections with judgements of their own: splits, counts, and what is wrong with files."""

import json

import pandas as pd
import pytest

from poolbias import collections, pooling
from poolbias.collections.given import Cut, Given, check_counts, cut_of, settle, write
from poolbias.errors import DataError
from poolbias.formats import read_qrels
from poolbias.formats.tsv import read_table

PARAMETERS = {
    "held_out": 1, "training_queries": None, "seed": 1, "draw": False, "repair": "none",
    "shares": {"train": 0.4, "dev": 0.2, "test": 0.4}, "judged_irrelevant": "negatives",
    "relevant": 1, "complete": False,
}  # fmt: skip


def given(**changes):
    values = {
        "documents": iter([("d1", "one"), ("d2", "two"), ("d3", "three")]),
        "queries": {f"q{n}": f"text {n}" for n in range(1, 8)},
        "judgements": {
            "train": [("q1", "d1", 1), ("q2", "d2", 1), ("q3", "d3", 1), ("q3", "d1", 0)],
            "test": [("q4", "d1", 2), ("q4", "d2", 0), ("q5", "d9", 1), ("q9", "d1", 1)],
        },
        "test_sets": ["test"],
    }
    return Given(**(values | changes))


def written(folder, found, cut):
    names = ("documents", "pool_documents", "queries", "truth", "statistics")
    paths = {name: folder / name for name in names}
    write(found, cut, paths)
    return (
        read_table(paths["documents"], ["document_id", "text"]),
        read_table(paths["queries"], ["query_id"]),
        read_qrels(paths["truth"]),
        json.loads(paths["statistics"].read_text()),
    )


def test_a_collection_is_written_with_its_splits_settled(tmp_path):
    documents, queries, truth, told = written(tmp_path, given(), Cut(1, None, 1))
    assert documents.to_numpy().tolist() == [["d1", "one"], ["d2", "two"], ["d3", "three"]]
    assert queries["split"].value_counts().to_dict() == {"train": 2, "dev": 1, "test": 1}
    assert queries["group"].equals(queries["query_id"].rename("group"))
    assert dict(zip(queries["query_id"], queries["kind"], strict=True))["q4"] == "test"
    rows = [tuple(row) for row in truth.to_numpy().tolist()]
    assert sorted(rows) == [
        ("q1", "d1", 1), ("q2", "d2", 1), ("q3", "d1", 0), ("q3", "d3", 1),
        ("q4", "d1", 2), ("q4", "d2", 0),
    ]  # fmt: skip
    assert told["documents"] == 3
    assert told["judgements_of_missing_documents"] == 1  # q5 of d9
    assert told["judgements_of_missing_queries"] == 1  # q9
    assert told["queries_without_judgements"] == 3  # q5, q6, q7
    assert told["judged_relevant"] == 4


def test_dev_of_the_files_wins_over_held_out_and_a_tested_query_does_not_train():
    found = given(
        judgements={
            "train": [(f"q{n}", "d1", 1) for n in (1, 2, 3, 4)],
            "dev": [("q3", "d1", 1)],
            "test": [("q4", "d1", 1)],
        }
    )
    queries, _ = settle(found, Cut(2, None, 1), set())
    assert dict(zip(queries["query_id"], queries["split"], strict=True)) == {
        "q1": "train", "q2": "train", "q3": "dev", "q4": "test",
    }  # fmt: skip
    assert found.statistics["training_queries_also_tested"] == 1


def test_what_is_held_out_or_kept_does_not_depend_on_other_queries():
    def held(names):
        rows = {"train": [(n, "d1", 1) for n in names], "test": [("q7", "d1", 1)]}
        queries, _ = settle(given(judgements=rows), Cut(1, None, 3), set())
        return set(queries.loc[queries["split"] == "dev", "query_id"])

    names = [f"q{n}" for n in range(1, 7)]
    (first,) = held(names)
    assert held([first, *(n for n in names[:3] if n != first)]) == {first}


def test_training_queries_are_cut_and_splits_drawn():
    rows = {"train": [(f"q{n}", "d1", 1) for n in range(1, 7)], "test": [("q7", "d1", 1)]}
    queries, _ = settle(given(judgements=rows), Cut(1, 2, 1), set())
    assert queries["split"].value_counts().to_dict() == {"train": 2, "dev": 1, "test": 1}

    many = {f"n{n}": "x" for n in range(300)}
    rows = {"test": [(name, "d1", 1) for name in many]}
    drawn = given(queries=many, judgements=rows)
    shares = {"train": 0.5, "dev": 0.1, "test": 0.4}
    queries, _ = settle(drawn, Cut(1, None, 1, shares), set())
    counts = queries["split"].value_counts()
    assert 120 < counts["train"] < 180
    assert 15 < counts["dev"] < 50


def test_what_is_wrong_with_files_is_told(tmp_path):
    twice = given(documents=iter([("d1", "a"), ("d2", "b"), ("d1", "c")]))
    with pytest.raises(DataError, match="number 1 and number 3 have one id"):
        written(tmp_path, twice, Cut(1, None, 1))
    assert not (tmp_path / "documents").exists()
    with pytest.raises(DataError, match="documents: found none"):
        written(tmp_path, given(documents=iter([])), Cut(1, None, 1))
    rows = {"test": [("q1", "d1", 1), ("q1", "d1", 0)]}
    with pytest.raises(DataError, match="d1 is judged twice for query q1"):
        settle(given(judgements=rows), Cut(1, None, 1), set())
    with pytest.raises(DataError, match="none in train and dev"):
        settle(given(judgements={"test": [("q1", "d1", 1)]}), Cut(1, None, 1), set())
    rows = {name: [("q1", "d1", 1)] for name in ("one", "two")}
    with pytest.raises(DataError, match="in the test sets one and two"):
        settle(given(judgements=rows, test_sets=["one", "two"]), Cut(1, None, 1), set())
    with pytest.raises(DataError, match="documents: found 3, need 4 as in the official"):
        check_counts(given(statistics={"documents": 3}, expected={"documents": 4}))
    check_counts(given(statistics={"documents": 4}, expected={"documents": 4}))


def test_labels_are_judgements_from_the_sets_grade_up_and_keep_what_is_judged_irrelevant():
    truth = pd.DataFrame(
        [("b", "d2", 2), ("b", "d1", 1), ("a", "d1", 1), ("c", "d1", 0)],
        columns=["query_id", "document_id", "grade"],
    )
    queries = pd.DataFrame({"query_id": ["a", "b", "c"], "kind": ["train", "deep", "deep"]})
    pool, labels = pooling.given(truth, queries, {"deep": 2})
    assert labels.to_numpy().tolist() == [
        ["a", "d1", 1], ["b", "d1", 0], ["b", "d2", 1], ["c", "d1", 0],
    ]  # fmt: skip
    assert pool.equals(labels[["query_id", "document_id"]])
    _, every = pooling.given(truth, queries, {"": 2})
    assert every["grade"].tolist() == [0, 0, 1, 0]


def beir(folder):
    folder.mkdir()
    (folder / "qrels").mkdir()
    (folder / "corpus.jsonl").write_text(
        '{"_id": "d1", "title": "T", "text": "oneâ€™s"}\n{"_id": "d2", "title": "", "text": "b"}\n'
    )
    (folder / "queries.jsonl").write_text(
        "".join(f'{{"_id": "q{n}", "text": "query {n}"}}\n' for n in range(4))
    )
    head = "query-id\tcorpus-id\tscore\n"
    (folder / "qrels/train.tsv").write_text(f"{head}q0\td1\t1\nq1\td2\t1\n")
    (folder / "qrels/test.tsv").write_text(f"{head}q2\td1\t1\n")
    names = ("corpus.jsonl", "queries.jsonl", "qrels/train.tsv", "qrels/test.tsv")
    return [folder / name for name in names]


def test_a_folder_in_beirs_layout(tmp_path):
    names = {"prefix": "", "train": "train", "dev": "dev", "test": "test", "separator": ": "}
    for repair, text in (("none", "T: oneâ€™s"), ("mojibake", "T: one’s")):
        folder = tmp_path / repair
        found = collections.build("beir", PARAMETERS | names | {"repair": repair}, beir(folder))
        documents, queries, truth, _ = written(tmp_path, found, cut_of(PARAMETERS))
        assert documents.to_numpy().tolist() == [["d1", text], ["d2", "b"]]
        assert queries["split"].value_counts().to_dict() == {"train": 1, "dev": 1, "test": 1}
        assert len(truth) == 3


def test_files_of_ones_own_in_any_format(tmp_path):
    (tmp_path / "docs.trec").write_text("<DOC>\n<DOCNO>d1</DOCNO>\none\n</DOC>\n")
    (tmp_path / "more.tsv").write_text("d2\ttwo\n")
    (tmp_path / "queries.tsv").write_text("q1\tx\nq2\ty\nq3\tz\n")
    for name, query in (("train", "q1"), ("dev", "q2"), ("test", "q3")):
        (tmp_path / f"{name}.qrels").write_text(f"{query} 0 d1 1\n{query} 0 d2 0\n")
    names = ["docs.trec", "more.tsv", "queries.tsv", "train.qrels", "dev.qrels", "test.qrels"]
    own = {"documents": ["a", "b"], "queries": ["c"], "train": "e", "dev": "f", "test": "g"}
    found = collections.build("files", PARAMETERS | own, [tmp_path / name for name in names])
    documents, queries, truth, told = written(tmp_path, found, cut_of(PARAMETERS))
    assert documents["text"].tolist() == ["one", "two"]
    assert queries["split"].tolist() == ["train", "dev", "test"]
    assert (len(truth), told["judged_relevant"]) == (6, 3)
