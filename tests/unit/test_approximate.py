"""Indexes of faiss: what they find, against a full sort."""

import subprocess
import sys

import numpy as np
import pytest

from poolbias.errors import ToolError
from poolbias.retrieval import approximate
from poolbias.retrieval.vectors import VectorFile, write_vectors

OPTIONS = {"lists": 8, "probes": 8, "neighbours": 16, "construction": 100, "breadth": 400}


@pytest.fixture
def given(tmp_path):
    generator = np.random.default_rng(1)
    queries = generator.normal(size=(9, 16)).astype(np.float32)
    documents = generator.normal(size=(400, 16)).astype(np.float32)
    documents[300:320] = documents[:20]
    write_vectors(tmp_path / "d.npy", documents)
    order = generator.permutation(400)
    exact = (queries.astype(float) @ documents.astype(float).T).astype(np.float32)
    rows = np.array([np.lexsort((order, -line))[:30] for line in exact])
    return queries, VectorFile(tmp_path / "d.npy"), order, rows, exact


@pytest.mark.parametrize("kind", ["flat", "ivf", "hnsw"])
def test_an_index_that_looks_everywhere_finds_what_the_exact_search_finds(given, kind):
    queries, documents, order, expected, exact = given
    rows, scores = approximate.search(queries, documents, 30, OPTIONS | {"kind": kind}, order, 1)
    same = np.mean([len(set(a) & set(b)) for a, b in zip(rows, expected, strict=True)]) / 30
    assert same > (0.95 if kind == "hnsw" else 0.99)  # ties at the end may be cut otherwise
    np.testing.assert_array_equal(scores, np.take_along_axis(exact, rows, axis=1))
    for line, found in zip(scores, rows, strict=True):
        assert found.tolist() == found[np.lexsort((order[found], -line))].tolist()


def test_lists_that_are_not_looked_at_leave_documents_out(given):
    queries, documents, order, expected, _ = given
    options = OPTIONS | {"kind": "ivf", "probes": 1}
    rows, scores = approximate.search(queries, documents, 200, options, order, 1)
    assert (rows < 0).any()
    assert (scores[rows < 0] == -np.inf).all()
    for line in rows:
        there = line >= 0
        assert there[: there.sum()].all(), "what is missing comes last"
    assert len(set(rows[0]) & set(expected[0])) < 30


def test_blocks_change_nothing(given, monkeypatch):
    queries, documents, order, *_ = given
    options = OPTIONS | {"kind": "flat"}
    whole = approximate.search(queries, documents, 30, options, order, 1)
    monkeypatch.setattr(approximate, "BLOCK", 37)
    again = approximate.search(queries, documents, 30, options, order, 1)
    np.testing.assert_array_equal(whole[0], again[0])
    np.testing.assert_array_equal(whole[1], again[1])


def test_a_missing_package_is_told_and_torch_is_not_loaded(given, monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(ToolError, match="faiss is not installed, need it for a retriever with"):
        approximate.search(*given[:2], 3, {"kind": "flat"}, given[2], 1)
    code = (
        "import sys, poolbias.retrieval.approximate, poolbias.stage; print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
