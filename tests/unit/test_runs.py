import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from poolbias.errors import DataError
from poolbias.files import open_text
from poolbias.formats.tsv import write_table
from poolbias.retrieval.runs import id_order, run_of_rows, write_splits
from poolbias.retrieval.vectors import write_vectors

QUERIES = pd.DataFrame(
    {
        "query_id": ["q3", "q1", "q2", "q4"],
        "text": ["a", "b", "c", "d"],
        "split": ["train", "train", "dev", "test"],
    }
)
RUN = pd.DataFrame(
    {
        "query_id": ["q1", "q1", "q2", "q3"],
        "document_id": ["x", "y", "x", "z"],
        "rank": [1, 2, 1, 1],
        "score": np.array([2.5, 0.1, 1, -3], np.float32),
    }
)


def paths(folder: Path) -> dict[str, Path]:
    names = {name: folder / f"{name}.run.gz" for name in ("train", "dev", "test")}
    return names | {"no_hits": folder / "no_hits.tsv"}


def text_of(path: Path) -> str:
    with open_text(path) as text:
        return text.read()


def test_each_query_is_in_its_split_or_without_hits(tmp_path):
    files = paths(tmp_path)
    counts = write_splits(RUN, QUERIES, files, "t")
    assert counts == {"queries": 4, "no_hits": 1, "rows": 4}
    assert text_of(files["train"]) == "q3 Q0 z 1 -3.0 t\nq1 Q0 x 1 2.5 t\nq1 Q0 y 2 0.1 t\n"
    assert text_of(files["dev"]) == "q2 Q0 x 1 1.0 t\n"
    assert text_of(files["test"]) == ""
    assert text_of(files["no_hits"]) == "query_id\tsplit\nq4\ttest\n"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"query_id": ["q3", "q1", "q5", "q4"]}, "query q2 is not in the table"),
        ({"query_id": ["q3", "q1", "q2", "q3"]}, "query q3 is listed twice"),
        ({"split": ["train", "train", "eval", "test"]}, "query q2 has the split 'eval'"),
    ],
)
def test_queries_that_do_not_fit_are_refused(tmp_path, change, told):
    with pytest.raises(DataError, match=told):
        write_splits(RUN, QUERIES.assign(**change), paths(tmp_path), "t")
    assert list(tmp_path.iterdir()) == []


def test_rows_become_a_run():
    scores = np.array([[3, 1], [2, 2]], np.float32)
    run = run_of_rows(["q1", "q2"], ["x", "y", "z"], np.array([[2, 0], [1, 2]]), scores)
    expected = pd.DataFrame(
        {
            "query_id": ["q1", "q1", "q2", "q2"],
            "document_id": ["z", "x", "y", "z"],
            "rank": [1, 2, 1, 2],
            "score": np.array([3, 1, 2, 2], np.float32),
        }
    )
    pd.testing.assert_frame_equal(run, expected)


def test_ids_are_ordered_as_strings():
    assert id_order(["d2", "d10", "é", "Z"]).tolist() == [2, 1, 3, 0]


def test_the_dense_stage_breaks_ties_by_id(tmp_path):
    documents = pd.DataFrame({"document_id": ["b", "c", "a"], "text": ["", "", ""]})
    write_table(tmp_path / "queries.tsv", QUERIES)
    write_table(tmp_path / "documents.tsv", documents)
    write_vectors(tmp_path / "q.npy", np.array([[1, 0], [0, 1], [1, 1], [-1, 0]], np.float32))
    write_vectors(tmp_path / "d.npy", np.array([[1, 0], [0, 2], [1, 0]], np.float32))
    (tmp_path / "p.json").write_text(json.dumps({"depth": 2, "threads": 1}))
    files = paths(tmp_path) | {"manifest": tmp_path / "manifest.json"}
    script = Path(__file__).parents[2] / "workflow" / "scripts" / "search_dense.py"
    inputs = ["--parameters", "p.json", "--queries", "queries.tsv", "--documents", "documents.tsv"]
    inputs += ["--queries-vectors", "q.npy", "--documents-vectors", "d.npy"]
    outputs = [
        part for name, file in files.items() for part in (f"--{name.replace('_', '-')}", file)
    ]
    command = [sys.executable, script, *inputs, *outputs]
    environment = {"PYTHONPATH": str(script.parents[2])}
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True)
    train = [
        "q3 Q0 a 1 1.0 dense",
        "q3 Q0 b 2 1.0 dense",
        "q1 Q0 c 1 2.0 dense",
        "q1 Q0 a 2 0.0 dense",
    ]
    assert text_of(files["train"]).splitlines() == train
    assert text_of(files["dev"]).splitlines() == ["q2 Q0 c 1 2.0 dense", "q2 Q0 a 2 1.0 dense"]
    assert text_of(files["test"]).splitlines() == ["q4 Q0 c 1 0.0 dense", "q4 Q0 a 2 -1.0 dense"]
    assert text_of(files["no_hits"]) == "query_id\tsplit\n"
    assert json.loads(files["manifest"].read_text())["figures"] == {
        "queries": 4,
        "no_hits": 0,
        "rows": 8,
    }
