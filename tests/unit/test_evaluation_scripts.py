import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from poolbias.formats import write_qrels, write_run
from poolbias.formats.tsv import read_table, write_table

ROOT = Path(__file__).resolve().parents[2]


def script(name, *arguments):
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(ROOT / "workflow/scripts" / name), *map(str, arguments)]
    return subprocess.run(command, env=environment, capture_output=True, text=True)


@pytest.fixture
def folder(tmp_path):
    queries = pd.DataFrame(
        {"query_id": ["1", "2", "3"], "text": "x", "split": ["test", "test", "train"], "group": "g"}
    )
    write_table(tmp_path / "queries.tsv", queries)
    columns = ["query_id", "document_id", "grade"]
    truth = pd.DataFrame(
        [("1", "a", 1), ("1", "b", 1), ("2", "b", 1), ("3", "a", 1), ("3", "c", 1)], columns=columns
    )
    write_qrels(tmp_path / "truth.qrels", truth)
    write_qrels(tmp_path / "labels.qrels", truth[truth["document_id"] == "a"])
    columns = ["query_id", "document_id", "rank", "score"]
    first = pd.DataFrame(
        [("1", "c", 1, 2.0), ("1", "a", 2, 1.0), ("2", "b", 1, 1.0)], columns=columns
    )
    write_run(tmp_path / "first.run.gz", first, "first")
    write_run(tmp_path / "second.run.gz", first[:2], "second")
    train = pd.DataFrame([("3", d, r, -float(r)) for r, d in enumerate("abc", 1)], columns=columns)
    write_run(tmp_path / "train.run.gz", train, "train")
    return tmp_path


def parameters(folder, value):
    path = folder / "parameters.json"
    path.write_text(json.dumps(value))
    return path


def evaluate(folder, runs, outputs, split="test"):
    return script(
        "evaluate.py",
        *("--parameters", parameters(folder, {"measures": ["RR@10", "R@100"], "split": split})),
        *("--queries", folder / "queries.tsv", "--judgements", folder / "truth.qrels"),
        *("--runs", *(folder / run for run in runs)),
        *("--per-query", *(folder / output for output in outputs)),
    )


def test_two_runs_in_one_call_equal_two_calls(folder):
    runs = ["first.run.gz", "second.run.gz"]
    done = evaluate(folder, runs, ["one.tsv", "two.tsv"])
    assert done.returncode == 0, done.stderr
    assert "most_missing 1" in done.stderr
    for run, output in zip(runs, ["one.tsv", "two.tsv"], strict=True):
        assert evaluate(folder, [run], ["alone.tsv"]).returncode == 0
        assert (folder / "alone.tsv").read_bytes() == (folder / output).read_bytes()
    assert (folder / "one.tsv").read_text() == (
        "query_id\tmeasure\tvalue\n1\tRR@10\t0.5\n1\tR@100\t0.5\n2\tRR@10\t1.0\n2\tR@100\t1.0\n"
    )
    assert read_table(folder / "two.tsv", [])["value"].tolist() == ["0.5", "0.5", "0.0", "0.0"]


def test_wrong_split_run_or_count_is_named(folder):
    done = evaluate(folder, ["first.run.gz"], ["one.tsv"], split="tset")
    assert done.returncode == 1
    assert "no query of split 'tset' is judged (splits of" in done.stderr
    assert "test, train" in done.stderr
    done = evaluate(folder, ["train.run.gz"], ["one.tsv"])
    assert "train.run.gz: run and judgements share no query" in done.stderr
    done = evaluate(folder, ["first.run.gz"], ["one.tsv", "two.tsv"])
    assert "found 1 runs and 2 per-query files" in done.stderr
    assert not (folder / "one.tsv").exists()


def test_false_negatives_are_counted_on_the_training_queries(folder):
    arguments = [
        *("--parameters", parameters(folder, {"depths": [1, 3]})),
        *("--queries", folder / "queries.tsv", "--truth", folder / "truth.qrels"),
        *("--labels", folder / "labels.qrels", "--shares", folder / "shares.tsv"),
    ]
    done = script("count_false_negatives.py", *arguments, "--run", folder / "train.run.gz")
    assert done.returncode == 0, done.stderr
    assert (folder / "shares.tsv").read_text().splitlines() == [
        "query_id\tdepth\tunlabelled\tfalse_negatives\tshare",
        "3\t1\t0\t0\t",
        "3\t3\t2\t1\t0.5",
    ]
    done = script("count_false_negatives.py", *arguments, "--run", folder / "first.run.gz")
    assert done.returncode == 1
    assert "holds no query of split 'train' that has a label" in done.stderr


def test_evaluation_loads_neither_torch_nor_java():
    heavy = "{'torch', 'transformers', 'jnius', 'scipy'}"
    code = f"import sys, poolbias.evaluation; print(sorted({heavy} & set(sys.modules)))"
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True
    )
    assert done.stdout == "[]\n"
