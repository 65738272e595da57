"""Tables of candidates made in parts: the same as those made at once."""

import numpy as np
import pandas as pd
import pytest

from poolbias.candidates import Candidates
from poolbias.errors import DataError
from poolbias.filtering import blocks
from poolbias.filtering.table import assemble
from poolbias.filtering.unlabelled import training_rows, unlabelled, without_judged
from poolbias.formats import read_run, write_run
from poolbias.formats.trec import read_run_blocks
from poolbias.formats.tsv import batched, read_column
from poolbias.training.draws import Drawer, uniforms

QUERIES = pd.DataFrame({"query_id": [f"q{n}" for n in range(9)], "split": "train"})
DOCUMENTS = pd.DataFrame({"document_id": [f"d{n}" for n in range(40)]})


def made(seed=0):
    generator = np.random.default_rng(seed)
    rows = [
        (query, f"d{d}", rank, 20.0 - rank)
        for query in QUERIES["query_id"][:8]
        for rank, d in enumerate(generator.choice(40, 12, replace=False), start=1)
    ]
    run = pd.DataFrame(rows, columns=["query_id", "document_id", "rank", "score"])
    labels = pd.DataFrame(
        [(q, f"d{n % 40}", 1) for n, q in enumerate(QUERIES["query_id"])]
        + [(q, f"d{n + 20}", 0) for n, q in enumerate(QUERIES["query_id"])],
        columns=["query_id", "document_id", "grade"],
    )
    return run, labels


def one(run, labels):
    return unlabelled(run, labels, None, *training_rows(QUERIES, DOCUMENTS), 10)


@pytest.mark.parametrize("size", [1, 3, 8, 100])
def test_parts_make_the_table_that_the_whole_makes(tmp_path, size):
    run, labels = made()
    write_run(tmp_path / "a.run.gz", run, "tag")
    parts = blocks.find(read_run_blocks(tmp_path / "a.run.gz", size), labels, one)
    counts, figures = blocks.write(parts, lambda f: 1.0 / f["rank"].to_numpy(), tmp_path / "table")
    found = Candidates.load(tmp_path / "table")
    frame = one(run, labels)
    expected, all_counts = assemble(frame, 1.0 / frame.frame["rank"].to_numpy())
    for name, array in vars(expected).items():
        if array is not None:
            assert np.array_equal(getattr(found, name), array), name
            assert getattr(found, name).dtype == array.dtype, name
    pd.testing.assert_frame_equal(counts, all_counts)
    assert figures == {}


def test_parts_joined_are_the_whole():
    run, labels = made()
    whole = one(run, labels)
    halves = [run[run["query_id"] < "q4"], run[run["query_id"] >= "q4"]]
    joined = blocks.join(blocks.find(halves, labels, one))
    pd.testing.assert_frame_equal(joined.frame, whole.frame)
    pd.testing.assert_frame_equal(joined.labels, whole.labels, check_dtype=False)


def test_a_run_in_blocks_is_the_run_and_queries_stand_together(tmp_path):
    run, _ = made()
    path = tmp_path / "a.run"
    write_run(path, run, "tag")
    parts = list(read_run_blocks(path, 3))
    assert [part["query_id"].nunique() for part in parts] == [3, 3, 2]
    pd.testing.assert_frame_equal(pd.concat(parts, ignore_index=True), read_run(path))
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([*lines[1:], lines[0]]))
    with pytest.raises(DataError, match="lines of query q0 do not stand together"):
        list(read_run_blocks(path, 3))
    for bad, told in (("q0 Q0 d1 1 x tag\n", "a.run:1"), ("q0 Q0 d1\n", "a.run:1"), ("", "bytes")):
        path.write_text(bad)
        with pytest.raises(DataError, match=told):
            list(read_run_blocks(path, 3))


def test_judged_irrelevant_documents_can_be_left_out():
    run, labels = made()
    found = one(run, labels)
    less = without_judged(found, labels, *training_rows(QUERIES, DOCUMENTS))
    rows = labels[labels["grade"] == 0]
    irrelevant = set(zip(rows["query_id"], rows["document_id"], strict=True))

    def pairs(frame):
        return [
            (query, f"d{row}")
            for query, row in zip(frame["query_id"], frame["document_row"], strict=True)
        ]

    removed = [pair for pair in pairs(found.frame) if pair in irrelevant]
    assert removed
    assert pairs(less.frame) == [pair for pair in pairs(found.frame) if pair not in irrelevant]
    assert less.figures["candidates_judged_irrelevant"] == len(removed)


def test_equally_likely_candidates_are_drawn_as_by_their_probabilities():
    run, labels = made()
    frame = one(run, labels)
    table, _ = assemble(frame, np.ones(len(frame.frame)))
    assert table.uniform.tolist() == [1] * len(table)
    slow = Candidates(**{**vars(table), "uniform": None})
    for step in range(50):
        quick, plain = Drawer(table, 3).draw(step, 16), Drawer(slow, 3).draw(step, 16)
        assert np.array_equal(quick.negatives, plain.negatives)
        at = uniforms(3, step, 16, 2)[:, 1]
        assert ((at >= 0) & (at < 1)).all()
    other, _ = assemble(frame, 1.0 / frame.frame["rank"].to_numpy())
    assert not other.uniform.any()


def test_one_column_of_a_table(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text("document_id\ttext\nd1\tone\nd2\ttwo three\n")
    assert read_column(path, "document_id").tolist() == ["d1", "d2"]
    assert read_column(path, "text").tolist() == ["one", "two three"]
    with pytest.raises(DataError, match=r"a\.tsv:1: column 'grade' is missing"):
        read_column(path, "grade")
    path.write_text("document_id\ttext\nd1\tone\nd2\n")
    with pytest.raises(DataError, match=r"a\.tsv:3: found 1 columns, need 2"):
        read_column(path, "text")
    assert list(batched(range(5), 2)) == [[0, 1], [2, 3], [4]]
