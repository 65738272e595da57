"""Damaged arrays of token stores and candidates tables: one sentence each, never a traceback."""

import numpy as np
import pytest

from poolbias.candidates import Candidates
from poolbias.errors import DataError
from poolbias.files import write_json
from poolbias.formats.npy import read_array
from poolbias.tokens import TokenStore


@pytest.fixture
def array(tmp_path):
    path = tmp_path / "store" / "a.npy"
    path.parent.mkdir()
    np.save(path, np.arange(5, dtype=np.int32))
    return path


def test_arrays_are_mapped_and_empty_ones_read(array):
    found = read_array(array)
    assert isinstance(found, np.memmap)
    np.testing.assert_array_equal(found, np.arange(5))
    np.save(array, np.zeros(0, dtype=np.int32))
    assert len(read_array(array)) == 0


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[:-1],
        lambda content: content[:20],
        lambda content: content.replace(b"'<i4'", b"'<i7'"),
        lambda content: content.replace(b"'descr'", b"'desc\xff'"),
        lambda content: content.replace(b"(5,)", b"(5,("),
        lambda content: content.replace(b"(5,)", b"(-5)"),
        lambda content: b"\x00" * len(content),
    ],
)
def test_a_damaged_array_is_told_by_name(array, damage):
    content = array.read_bytes()
    assert damage(content) != content
    array.write_bytes(damage(content))
    with pytest.raises(DataError, match=r"store/a\.npy: .*delete \S+store and make it again"):
        read_array(array)


def test_arrays_of_another_kind_or_shape_are_told(array):
    with pytest.raises(DataError, match=r"found int32 \[5\], need a row of numbers of kind f"):
        read_array(array, "f")
    np.save(array, np.zeros((2, 3)))
    with pytest.raises(DataError, match=r"found float64 \[2, 3\]"):
        read_array(array)


@pytest.fixture
def store(tmp_path):
    folder = tmp_path / "tokens"
    folder.mkdir()
    for name in ("documents", "queries"):
        np.save(folder / f"{name}.ids.npy", np.arange(4, dtype=np.uint16))
        np.save(folder / f"{name}.offsets.npy", np.array([0, 1, 4]))
    write_json(folder / "special.json", {"[CLS]": 1, "[SEP]": 2, "[PAD]": 0})
    return folder


@pytest.mark.parametrize(
    ("file", "content", "told"),
    [
        ("documents.ids.npy", np.arange(3), "documents.ids.npy: holds 3 ids, need 4"),
        ("queries.offsets.npy", np.zeros(0, int), "queries.ids.npy: holds 4 ids, need offsets"),
        ("special.json", {"[CLS]": 1}, r"special.json: holds no number for \[CLS\]"),
        ("special.json", [1], r"special.json: holds no number for \[CLS\]"),
        ("special.json", {"[CLS]": None, "[SEP]": 1, "[PAD]": 1}, "special.json: holds no number"),
    ],
)
def test_damaged_token_stores_are_told(store, file, content, told):
    assert len(TokenStore(store).documents) == 2
    if file.endswith(".npy"):
        np.save(store / file, content)
    else:
        write_json(store / file, content)
    with pytest.raises(DataError, match=told):
        TokenStore(store)


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("documents", np.zeros(2, np.int32), "documents.npy: holds 2 numbers, need 3"),
        ("probability", np.zeros(4, np.float32), "probability.npy: holds 4 numbers, need 3"),
        ("positives", np.zeros(2, np.int32), "positives.npy: holds 2 numbers, need 1"),
        ("offsets", np.array([0, 1, 3]), "documents.npy: holds 3 numbers, need other offsets"),
        ("relevant", np.zeros(1, np.uint8), "relevant.npy: holds 1 numbers, need 3"),
    ],
)
def test_candidates_whose_arrays_do_not_fit_are_told(tmp_path, name, content, told):
    table = Candidates(
        query_rows=np.array([0], np.int32),
        offsets=np.array([0, 3]),
        documents=np.array([1, 2, 3], np.int32),
        ranks=np.array([1, 2, 3], np.int32),
        probability=np.array([0.5, 0.25, 0.25], np.float32),
        positive_offsets=np.array([0, 1]),
        positives=np.array([4], np.int32),
        relevant=np.array([0, 1, 0], np.uint8),
    )
    table.save(tmp_path / "table")
    assert len(Candidates.load(tmp_path / "table")) == 1
    np.save(tmp_path / "table" / f"{name}.npy", content)
    with pytest.raises(DataError, match=told):
        Candidates.load(tmp_path / "table")
