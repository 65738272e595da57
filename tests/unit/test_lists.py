import json

import pandas as pd
import pytest

from poolbias.errors import DataError
from poolbias.formats.lists import (
    read_json_lists,
    read_tsv_lists,
    write_json_lists,
    write_tsv_lists,
)

ITEMS = [
    {
        "q_id": 7,
        "question": "who painted it",
        "answers": ["Vermeer"],
        "positive_ctxs": [
            {"title": "Delft", "text": "Vermeer painted.", "passage_id": "12", "score": 81.5}
        ],
        "hard_negative_ctxs": [
            {"title": "", "text": "A lamp.", "passage_id": 13, "score": "80.25"},
            {"title": "Delft", "text": "Vermeer painted.", "passage_id": "12", "score": 2},
        ],
        "negative_ctxs": [],
    },
    {
        "q_id": "8",
        "question": "naïve",
        "answers": [],
        "positive_ctxs": [],
        "hard_negative_ctxs": [],
        "negative_ctxs": [],
    },
]


def rows(frame):
    return [tuple(row) for row in frame.itertuples(index=False)]


def test_dprs_style_is_read_and_written(tmp_path):
    path = tmp_path / "train_ce.json"
    path.write_text(json.dumps(ITEMS))
    lists = read_json_lists(path)
    assert rows(lists.queries) == [("7", "who painted it"), ("8", "naïve")]
    assert rows(lists.positives) == [("7", "12", 81.5)]
    assert rows(lists.negatives) == [("7", "13", 80.25), ("7", "12", 2.0)]
    assert rows(lists.documents) == [
        ("12", "Delft", "Vermeer painted."),
        ("13", "", "A lamp."),
    ]
    assert lists.answers == {"7": ["Vermeer"], "8": []}
    write_json_lists(tmp_path / "again.json", lists)
    again = json.loads((tmp_path / "again.json").read_text())
    assert [set(item) for item in again] == [set(item) for item in ITEMS]
    assert again[0]["hard_negative_ctxs"][0] == {
        "title": "",
        "text": "A lamp.",
        "passage_id": "13",
        "score": 80.25,
    }
    for name in ("queries", "positives", "negatives", "documents"):
        back = getattr(read_json_lists(tmp_path / "again.json"), name)
        pd.testing.assert_frame_equal(back, getattr(lists, name))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda items: items.append(items[0]), "item 3: query 7 stands twice"),
        (lambda items: items[1].pop("answers"), "item 2: KeyError 'answers', need q_id"),
        (
            lambda items: items[0]["hard_negative_ctxs"][1].update(text="Other."),
            "item 1: document 12 has another text than before",
        ),
        (
            lambda items: items[0]["positive_ctxs"][0].update(score="high"),
            "item 1: ValueError could not convert",
        ),
    ],
)
def test_what_is_not_dprs_style_is_told(tmp_path, change, told):
    items = json.loads(json.dumps(ITEMS))
    change(items)
    (tmp_path / "t.json").write_text(json.dumps(items))
    with pytest.raises(DataError, match=told):
        read_json_lists(tmp_path / "t.json")


def test_files_that_hold_no_list_are_told(tmp_path):
    (tmp_path / "t.json").write_text("{}")
    with pytest.raises(DataError, match="found a dict, need a list"):
        read_json_lists(tmp_path / "t.json")
    (tmp_path / "t.json").write_text("[")
    with pytest.raises(DataError, match="is no JSON"):
        read_json_lists(tmp_path / "t.json")


def test_ms_marcos_form_is_read_and_written(tmp_path):
    text = "7\twho painted it\t12 81.5\t13 80.25,12 2.0\n8\tnaïve\t\t\n"
    (tmp_path / "train_ce.tsv").write_text(text)
    lists = read_tsv_lists(tmp_path / "train_ce.tsv")
    assert rows(lists.queries) == [("7", "who painted it"), ("8", "naïve")]
    assert rows(lists.positives) == [("7", "12", 81.5)]
    assert rows(lists.negatives) == [("7", "13", 80.25), ("7", "12", 2.0)]
    assert lists.documents.empty
    write_tsv_lists(tmp_path / "again.tsv", lists)
    assert (tmp_path / "again.tsv").read_text() == text
    with pytest.raises(DataError, match="document 12 of query 7 has no text"):
        write_json_lists(tmp_path / "t.json", lists)
    assert not (tmp_path / "t.json").exists()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("7\ttext\t12 1\n", ":1: found 3 columns, need 4"),
        ("7\tt\t12 1\t\n7\tt\t12 1\t\n", ":2: query 7 stands twice"),
        ("7\tt\t12\t\n", ":1: found '12', need a document and its score"),
        ("7\tt\t12 1\t13 x,14 2\n", ":1: found '13 x'"),
    ],
)
def test_what_is_not_ms_marcos_form_is_told(tmp_path, text, told):
    (tmp_path / "t.tsv").write_text(text)
    with pytest.raises(DataError, match=told):
        read_tsv_lists(tmp_path / "t.tsv")
