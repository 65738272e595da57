"""The scripts of retrievers, run by hand one after the other on a collection of sixteen texts."""

import gzip
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from test_retriever_training import DOCUMENTS, LABELS, PARAMETERS, QUERIES

from poolbias.formats import read_run, write_qrels
from poolbias.formats.tsv import write_table

SCRIPTS = Path(__file__).resolve().parents[2] / "workflow" / "scripts"
RUNS = ("train", "dev", "test", "no_hits", "manifest")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a collection, a trained retriever and its vectors."""
    folder = tmp_path_factory.mktemp("scripts")
    write_table(folder / "queries.tsv", QUERIES)
    write_table(folder / "documents.tsv", DOCUMENTS)
    write_qrels(folder / "labels.qrels", LABELS)
    tokens = {"layers": 1, "query_tokens": 8, "document_tokens": 8}
    training = PARAMETERS["training"] | {"steps": 1, "pairs": 2}
    parameters = PARAMETERS | tokens | {"start": "all-MiniLM-L6-v2", "training": training}
    texts = {"queries": "queries.tsv", "documents": "documents.tsv"}
    machine = {"device": "cpu", "threads": 1}
    outputs = {"model": "m/model.safetensors", "training": "t.tsv", "manifest": "t.json"}
    stage(
        folder, "train_retriever", parameters | machine, texts, {"labels": "labels.qrels"}, outputs
    )
    vectors = {"documents_vectors": "d.npy", "queries_vectors": "q.npy"}
    model = {"model": "m/model.safetensors"}
    stage(folder, "encode_texts", machine | {"precision": "float32"}, texts, model, vectors)
    return folder


def stage(folder, name, parameters, *options, fails=False):
    """Run a script as a rule does, or see it fail, and return what it said."""
    (folder / f"{name}.json").write_text(json.dumps(parameters))
    command = [sys.executable, SCRIPTS / f"{name}.py", "--parameters", f"{name}.json"]
    for given in options:
        for option, paths in given.items():
            command += [
                f"--{option.replace('_', '-')}",
                *(paths if isinstance(paths, list) else [paths]),
            ]
    environment = {"PYTHONPATH": str(SCRIPTS.parents[1]), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode != 0) is fails, done.stderr
    return done.stderr


def searched(folder, name, parameters, *options):
    """Run a script that writes runs, and return the folder of these."""
    outputs = {
        part: f"{name}/{part}.tsv" if part == "no_hits" else f"{name}/{part}.run.gz"
        for part in RUNS
    }
    (folder / name).mkdir(exist_ok=True)
    texts = {"queries": "queries.tsv", "documents": "documents.tsv"}
    stage(folder, name, parameters, texts, *options, outputs)
    return folder / name


def test_shards_and_a_flat_index_find_what_one_search_finds(place):
    vectors = {"documents_vectors": "d.npy", "queries_vectors": "q.npy"}
    texts = {"queries": "queries.tsv", "documents": "documents.tsv"}
    one = searched(place, "search_dense", {"depth": 5, "threads": 1}, vectors)
    scores = np.load(place / "q.npy") @ np.load(place / "d.npy").T
    run = read_run(one / "test.run.gz")
    best = DOCUMENTS["document_id"].to_numpy()[np.argsort(-scores[7])[:5]]
    assert run["document_id"].tolist() == best.tolist()
    for shard in range(2):
        parameters = {"depth": 5, "threads": 1, "shard": shard, "shards": 2}
        found = {"rows": f"{shard}.rows.npy", "scores": f"{shard}.scores.npy"}
        stage(place, "search_shard", parameters, texts, vectors, found)
    parts = {name: [f"{shard}.{name}.npy" for shard in range(2)] for name in ("rows", "scores")}
    merged = searched(place, "merge_shards", {"depth": 5}, parts)
    options = {"depth": 5, "threads": 1, "faiss": {"kind": "flat"}}
    indexed = searched(place, "search_faiss", options, vectors)
    for split in ("train", "dev", "test"):
        assert (merged / f"{split}.run.gz").read_bytes() == (one / f"{split}.run.gz").read_bytes()
        # documents whose scores differ in their last digit only may be cut otherwise
        found, exact = (read_run(runs / f"{split}.run.gz") for runs in (indexed, one))
        assert found["query_id"].tolist() == exact["query_id"].tolist()
        np.testing.assert_allclose(found["score"], exact["score"], rtol=1e-6)


def test_a_run_is_taken_up_and_the_gate_tells_of_it(place):
    lines = [
        f"{query}\td{rank}\t{rank + 1}\n" for query in QUERIES["query_id"] for rank in range(4)
    ]
    with gzip.open(place / "away.tsv.gz", "wt") as file:
        file.writelines(lines)
    taken = searched(place, "import_run", {"depth": 4, "coverage": 1.0}, {"runs": ["away.tsv.gz"]})
    assert read_run(taken / "dev.run.gz")["document_id"].tolist() == ["d0", "d1", "d2", "d3"]
    # of the training queries q0 (d0, d1) and q1 (d2) find all of theirs, the other four nothing
    given = {"queries": "queries.tsv", "run": "import_run/train.run.gz"}
    given |= {"judgements": "labels.qrels", "gate": "gate.json"}
    expected = {"measure": "R@4", "value": 0.33, "tolerance": 0.01, "split": "train"}
    stage(place, "check_retrieval", expected, given)
    assert json.loads((place / "gate.json").read_text())["found"] == pytest.approx(1 / 3)
    said = stage(place, "check_retrieval", expected | {"value": 0.5}, given, fails=True)
    assert "R@4 is 0.3333, need 0.5000 within 0.01" in said
    assert "Traceback" not in said
