import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from poolbias import pooling
from poolbias.errors import ConfigError, DataError
from poolbias.formats.trec import read_qrels, write_qrels, write_run
from poolbias.formats.tsv import read_table, write_table

ROOT = Path(__file__).resolve().parents[2]


def run(**documents):
    rows = [
        (query, document, rank, 1.0)
        for query, listed in documents.items()
        for rank, document in enumerate(listed.split(), start=1)
    ]
    return pd.DataFrame(rows, columns=["query_id", "document_id", "rank", "score"])


def pairs(frame):
    return list(frame[["query_id", "document_id"]].itertuples(index=False, name=None))


FIRST = run(q1="a b c d", q2="x y z")
SECOND = run(q1="c a e", q3="m")
TRUTH = pd.DataFrame(
    [
        ("q1", "a", 1),
        ("q1", "c", 2),
        ("q1", "d", 1),
        ("q1", "b", 0),
        ("q2", "z", 1),
        ("q3", "m", 1),
    ],
    columns=["query_id", "document_id", "grade"],
)
QUERIES = pd.DataFrame(
    {
        "query_id": ["q1", "q2", "q3"],
        "text": ["one", "two", "three"],
        "split": ["train", "train", "test"],
        "group": ["g1", "g2", "g2"],
        "kind": ["name", "name", "name"],
    }
)
POOL = [("q1", "a"), ("q1", "b"), ("q1", "c"), ("q2", "x"), ("q2", "y"), ("q3", "m")]
LABELS = [("q1", "a"), ("q1", "c"), ("q3", "m")]


def test_a_pool_and_its_labels_by_hand():
    pool = pooling.pool([FIRST, SECOND], 2)
    assert pairs(pool) == POOL
    labels = pooling.label(pool, TRUTH, None, seed=1)
    assert pairs(labels) == LABELS
    assert labels["grade"].tolist() == [1, 1, 1]
    assert pooling.statistics(pool, labels, TRUTH, QUERIES) == {
        "queries": 3,
        "queries_labelled": 2,
        "queries_not_labelled": 1,
        "labels": 3,
        "labels_per_labelled_query_mean": 1.5,
        "share_of_truth_labelled": 3 / 5,
        "pooled_documents": 6,
        "pooled_documents_per_query_mean": 2.0,
        "share_of_pool_relevant": 0.5,
        "queries_labelled_by_split": {"test": 1, "train": 1},
        "queries_labelled_by_kind": {"name": 2},
    }


def test_the_rank_gives_the_order_whatever_it_begins_with():
    shifted = FIRST.assign(rank=FIRST["rank"] * 10 - 3)
    assert pairs(pooling.pool([shifted], 2)) == pairs(pooling.pool([FIRST], 2))


def test_the_order_of_rows_and_runs_does_not_matter():
    mixed = [frame.sample(frac=1, random_state=3) for frame in (SECOND, FIRST)]
    pool = pooling.pool(mixed, 3)
    pd.testing.assert_frame_equal(pool, pooling.pool([FIRST, SECOND], 3))
    for number in (None, 1, 2):
        pd.testing.assert_frame_equal(
            pooling.label(pool.iloc[::-1], TRUTH.sample(frac=1, random_state=4), number, 7),
            pooling.label(pool, TRUTH, number, 7),
        )


def test_labels_per_query_keeps_a_keyed_choice():
    documents = [f"d{number}" for number in range(4)]
    rows = [(f"q{number}", document, 1) for number in range(400) for document in documents]
    truth = pd.DataFrame(rows, columns=["query_id", "document_id", "grade"])
    one, two = (pooling.label(truth, truth, number, seed=1) for number in (1, 2))
    assert one["query_id"].value_counts().eq(1).all()
    assert two["query_id"].value_counts().eq(2).all()
    # Who stops later labels the same documents and more.
    assert set(pairs(one)) < set(pairs(two))
    # Every document has the same chance: 100 of 400 each, standard deviation 8.7.
    assert one["document_id"].value_counts().between(65, 135).all()
    assert pairs(one) != pairs(pooling.label(truth, truth, 1, seed=2))
    few = truth[truth["query_id"].isin(["q3", "q9"])]
    assert set(pairs(pooling.label(few, few, 1, seed=1))) == {
        pair for pair in pairs(one) if pair[0] in ("q3", "q9")
    }


def test_wrong_numbers_and_ties_stop():
    with pytest.raises(ConfigError, match="depth: found 0"):
        pooling.pool([FIRST], 0)
    with pytest.raises(ConfigError, match="labels_per_query: found 0"):
        pooling.label(FIRST, TRUTH, 0, 1)
    with pytest.raises(DataError, match="run 2: query q1 has two documents at rank 1"):
        pooling.pool([FIRST, SECOND.assign(rank=1)], 1)
    with pytest.raises(DataError, match=r"a\.run: query q2 is not in the collection's queries"):
        pooling.check_queries(QUERIES[QUERIES["query_id"] != "q2"], FIRST, "a.run")


def build_labels(folder, *runs):
    write_table(folder / "queries.tsv", QUERIES)
    write_qrels(folder / "truth.qrels", TRUTH)
    for number, frame in enumerate(runs):
        write_run(folder / f"{number}.run.gz", frame, "test")
    parameters = {"depth": 2, "labels_per_query": None, "seed": 1}
    (folder / "parameters.json").write_text(json.dumps(parameters))
    files = {"parameters": "parameters.json", "truth": "truth.qrels", "queries": "queries.tsv"}
    files |= {"labels": "labels.qrels", "pool": "pool.tsv", "statistics": "statistics.json"}
    command = [sys.executable, str(ROOT / "workflow/scripts/build_labels.py"), "--runs"]
    command += [f"{number}.run.gz" for number in range(len(runs))]
    for name, file in files.items():
        command += [f"--{name}", file]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def test_the_script_writes_pool_labels_and_statistics(tmp_path):
    done = build_labels(tmp_path, FIRST, SECOND)
    assert done.returncode == 0, done.stderr
    assert pairs(read_table(tmp_path / "pool.tsv", [])) == POOL
    assert pairs(read_qrels(tmp_path / "labels.qrels")) == LABELS
    assert json.loads((tmp_path / "statistics.json").read_text())["queries_labelled"] == 2


def test_the_script_names_a_run_of_another_collection(tmp_path):
    done = build_labels(tmp_path, run(q9="a"))
    assert done.returncode == 1
    assert "0.run.gz: query q9 is not in the collection's queries" in done.stderr
    assert not (tmp_path / "labels.qrels").exists()
