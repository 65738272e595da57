"""TREC files: what is read is what was written, and what is wrong is named by file and line."""

import gzip

import numpy as np
import pandas as pd
import pytest

from poolbias.errors import DataError
from poolbias.formats import read_qrels, read_run, write_qrels, write_run

RUN = "a Q0 d1 1 2.5 tag\na Q0 d2 2 1e-3 tag\nb Q0 d1 1 -4 tag\n"
QRELS = "a 0 d1 1\nb 0 007 2\n"


def written(tmp_path, text, name="file.txt"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize(
    "text", [RUN, RUN.replace("\n", "\r\n"), "\ufeff" + RUN, RUN.replace(" ", "\t")]
)
def test_a_run_is_read_whatever_its_line_ends_and_blanks(tmp_path, text):
    run = read_run(written(tmp_path, text))
    assert run["query_id"].tolist() == ["a", "a", "b"]
    assert run["document_id"].tolist() == ["d1", "d2", "d1"]
    assert run["rank"].tolist() == [1, 2, 1]
    assert run["score"].tolist() == [2.5, 1e-3, -4.0]


def test_ids_stay_text(tmp_path):
    qrels = read_qrels(written(tmp_path, "1 0 NA 1\n042 0 null 0\n"))
    assert qrels["query_id"].tolist() == ["1", "042"]
    assert qrels["document_id"].tolist() == ["NA", "null"]


@pytest.mark.parametrize("name", ["run.txt", "run.txt.gz"])
def test_a_run_survives_its_file_and_equal_runs_have_equal_bytes(tmp_path, name):
    scores = np.random.default_rng(1).normal(size=50).astype(np.float32)
    run = pd.DataFrame({"query_id": "a", "document_id": [f"d{i}" for i in range(50)]})
    run = run.assign(rank=range(1, 51), score=scores)
    write_run(tmp_path / name, run, tag="t")
    again = read_run(tmp_path / name)
    np.testing.assert_array_equal(again["score"].to_numpy(np.float32), scores)
    assert again["document_id"].tolist() == run["document_id"].tolist()
    first = (tmp_path / name).read_bytes()
    write_run(tmp_path / name, run, tag="t")
    assert (tmp_path / name).read_bytes() == first


def test_qrels_survive_their_file(tmp_path):
    qrels = read_qrels(written(tmp_path, QRELS))
    write_qrels(tmp_path / "again", qrels)
    assert (tmp_path / "again").read_text() == QRELS


def test_a_run_without_hits_survives_its_file(tmp_path):
    columns = {"query_id": "str", "document_id": "str", "rank": "int64", "score": "float64"}
    write_run(tmp_path / "run.gz", pd.DataFrame({name: [] for name in columns}), tag="t")
    run = read_run(tmp_path / "run.gz")
    assert len(run) == 0
    assert {name: str(kind) for name, kind in run.dtypes.items()} == columns


@pytest.mark.parametrize("read", [read_run, read_qrels])
def test_an_empty_file_is_told(tmp_path, read):
    with pytest.raises(DataError, match=r"file\.txt: has no bytes"):
        read(written(tmp_path, ""))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a Q0 d1 1 2.5\n", r":1: found 5 columns, need 6"),
        (RUN + "a Q0 d 3 1 2.5 tag\n", r":4: found 7 columns, need 6"),
        (RUN + "a Q0 d3 x 2.5 tag\n", r":4: rank is 'x', need a whole number"),
        (RUN + "a Q0 d3 3 nan tag\n", r":4: score is 'nan', need a finite number"),
        (RUN + "a Q0 d3 3 inf tag\n", r":4: score is 'inf', need a finite number"),
        (
            RUN + "a Q0 d1 3 0.5 tag\n",
            r":4: document d1 stands twice for query a \(first on line 1",
        ),
        (RUN.encode() + b"a Q0 d\xff 3 0.5 tag\n", r"cannot be read .*not UTF-8"),
    ],
)
def test_what_is_wrong_with_a_run_is_named(tmp_path, text, message):
    with pytest.raises(DataError, match=message):
        read_run(written(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (QRELS + "a 0 d1\n", r":3: found 3 columns, need 4"),
        (QRELS + "a 0 d2 1.5\n", r":3: grade is '1.5', need a whole number"),
        (QRELS + "a 0 d1 0\n", r":3: document d1 stands twice for query a \(first on line 1\)"),
    ],
)
def test_what_is_wrong_with_qrels_is_named(tmp_path, text, message):
    with pytest.raises(DataError, match=message):
        read_qrels(written(tmp_path, text))


def test_a_missing_and_a_torn_file_are_told(tmp_path):
    with pytest.raises(DataError, match="no such file"):
        read_run(tmp_path / "nothing.gz")
    torn = tmp_path / "torn.gz"
    torn.write_bytes(gzip.compress(RUN.encode() * 100)[:-20])
    with pytest.raises(DataError, match=r"torn\.gz"):
        read_run(torn)
    written(tmp_path, "not gzip", "plain.gz")
    with pytest.raises(DataError, match=r"plain\.gz"):
        read_run(tmp_path / "plain.gz")
