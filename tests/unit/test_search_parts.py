"""The parts of the exact search: rough products, what is held, sums of pairs, merging."""

import math
from itertools import pairwise

import numpy as np
import pytest
import torch

from poolbias.errors import ConfigError, DataError
from poolbias.retrieval import rough
from poolbias.retrieval.best import best_of_pairs, merge
from poolbias.retrieval.held import Held
from poolbias.retrieval.search import _passing, queries_held, search
from poolbias.retrieval.sums import sums_of_pairs
from poolbias.retrieval.vectors import VectorFile, write_vectors


def drawn(queries: int, documents: int, dimension: int = 24, seed: int = 1):
    generator = np.random.default_rng(seed)
    return [generator.normal(size=(n, dimension)).astype(np.float32) for n in (queries, documents)]


def oracle(queries, documents, depth, order=None):
    order = np.arange(len(documents)) if order is None else order
    exact = queries.astype(float) @ documents.astype(float).T
    scores = exact.astype(np.float32)
    rows = np.array([np.lexsort((order, -line))[:depth] for line in scores])
    return rows, np.take_along_axis(scores, rows, axis=1)


@pytest.mark.parametrize("half", [True, False])
def test_bfloat16_and_float32_products_find_the_same(monkeypatch, half):
    monkeypatch.setattr(rough, "_fast_half", lambda: half)
    monkeypatch.setattr(rough, "MOST_HELD", 1e9)  # stays with bfloat16 whatever it costs
    queries, documents = drawn(9, 700)
    documents[300:340] = documents[:40]
    rows, scores = search(queries, documents, 50, document_block=100)
    expected = oracle(queries, documents, 50)
    np.testing.assert_array_equal(rows, expected[0])
    np.testing.assert_allclose(scores, expected[1], rtol=1e-6)


def test_the_error_told_is_never_less_than_the_error_made():
    queries, documents = (torch.from_numpy(part) for part in drawn(40, 200, 384))
    documents *= torch.linspace(0.01, 50, 200)[:, None]
    exact = queries.double() @ documents.double().T
    lengths = [
        torch.linalg.vector_norm(part.double(), dim=1).numpy() for part in (queries, documents)
    ]
    for half, most in ((True, 0.2), (False, 0.9)):
        held = Held(40, 10, 300, np.arange(200))
        products = rough.Rough(queries, lengths[0], half).prepare(documents, lengths[1], 0, held)
        off = (products(slice(0, 40)).double() - exact).abs().max(dim=1).values.numpy()
        assert (off > 0).all()
        assert (off < most * held.error).all(), "the bound is a bound, with room"


def test_near_products_are_multiplied_in_float32():
    queries, documents = drawn(8, 300)
    lengths = np.linalg.norm(queries, axis=1).astype(float)
    for shift, half in ((0.0, True), (100.0, False)):  # a common part makes all products alike
        block = torch.from_numpy(documents + np.float32(shift))
        found = rough.Rough(torch.from_numpy(queries), lengths)
        found.half, found.decided = True, False
        found.rounded = found.queries.bfloat16()
        found.lost = np.full(8, 1e-3)
        longest = torch.linalg.vector_norm(block.double(), dim=1).numpy()
        found.prepare(block, longest, 0, Held(8, 20, 400, np.arange(300)))
        assert found.half is half


def test_products_that_overflow_stop():
    queries, documents = drawn(2, 5)
    with pytest.raises(DataError, match=r"documents from row 2 on are up to .* long"):
        search(
            queries * np.float32(1e19),
            np.float32(1e19) * documents * np.float32([0, 0, 1, 1, 1])[:, None],
            2,
            document_block=2,
        )


def test_more_ties_than_there_is_room_for_are_settled_by_the_order():
    queries, documents = drawn(3, 40, 8)
    documents[:] = documents[0]
    documents[33] *= np.float32(1.5)
    order = np.random.default_rng(5).permutation(40)
    for block in (40, 4, 1):
        rows, scores = search(queries, documents, 3, order, document_block=block)
        expected = oracle(queries, documents, 3, order)
        np.testing.assert_array_equal(rows, expected[0])
        np.testing.assert_array_equal(scores, expected[1])


def test_documents_that_come_from_worst_to_best_all_find_room():
    queries, documents = drawn(4, 600)
    documents = documents[np.argsort(documents @ queries[0])]
    for block in (7, 64, 599):
        np.testing.assert_array_equal(
            search(queries, documents, 20, document_block=block)[0],
            oracle(queries, documents, 20)[0],
        )


def test_what_passes_is_the_same_on_every_device():
    products = torch.from_numpy(drawn(6, 6)[0] @ drawn(6, 50)[1].T)
    bound = np.float32([-np.inf, 0, 1, 2, 3, np.inf])
    expected = np.nonzero(products.numpy() >= bound[:, None])

    here = _passing(products, bound)
    reached = products >= torch.from_numpy(bound)[:, None]
    places = torch.nonzero(reached)
    for found, one, other in zip(here[:2], expected, places.T, strict=True):
        np.testing.assert_array_equal(found, one)
        np.testing.assert_array_equal(found, other.numpy())
    np.testing.assert_array_equal(here[2], products.numpy()[expected])


def test_sums_of_pairs_are_those_of_exact_arithmetic():
    queries, documents = drawn(5, 30, 100)
    query, document = np.array([0, 0, 2, 4, 4, 4]), np.array([7, 3, 29, 0, 1, 29])
    sums = sums_of_pairs(
        *(torch.from_numpy(part).double() for part in (queries, documents)), query, document
    )
    exact = [
        math.fsum(queries[a].astype(float) * documents[b].astype(float))
        for a, b in zip(query, document, strict=True)
    ]
    np.testing.assert_array_equal(sums, np.float32(exact))
    assert sums.dtype == np.float32


def test_best_of_pairs_orders_negative_zero_and_equal_scores():
    scores = np.float32([-1, 0.0, -0.0, 2, -1, 3, -2.5])
    query, document = np.array([0, 0, 0, 0, 0, 1, 1]), np.array([5, 4, 3, 2, 1, 0, 6])
    order = np.array([9, 8, 7, 6, 5, 4, 3])
    rows, found = best_of_pairs(query, document, scores, order, (2, 2))
    np.testing.assert_array_equal(rows, [[2, 4], [0, 6]])
    np.testing.assert_array_equal(found, np.float32([[2, 0], [3, -2.5]]))
    rows, _ = best_of_pairs(query[:5], document[:5], scores[:5], order, (1, 5))
    np.testing.assert_array_equal(rows, [[2, 4, 3, 5, 1]])


@pytest.mark.parametrize("cuts", [(0, 500), (0, 250, 500), (0, 3, 100, 101, 500)])
def test_shards_merge_to_the_bytes_of_one(cuts):
    queries, documents = drawn(11, 500)
    documents[400:450] = documents[:50]
    order = np.random.default_rng(2).permutation(500)
    whole = search(queries, documents, 60, order)
    parts = []
    for first, last in pairwise(cuts):
        rows, scores = search(queries, documents[first:last], 60, order[first:last])
        parts.append((rows + first, scores))
    rows, scores = merge(parts, 60, order)
    assert rows.tobytes() == whole[0].tobytes()
    assert scores.tobytes() == whole[1].tobytes()


def test_float16_files_are_searched_block_by_block(tmp_path):
    queries, documents = drawn(7, 333)
    small = documents.astype(np.float16)
    write_vectors(tmp_path / "documents.npy", small)
    file = VectorFile(tmp_path / "documents.npy", 333)
    assert (file.shape, file.dtype) == ((333, 24), np.float16)
    expected = oracle(queries, small.astype(np.float32), 25)
    found = search(queries, file, 25, document_block=50)
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_array_equal(found[1], expected[1])


def test_a_vector_file_reads_slices_and_rows(tmp_path):
    _, documents = drawn(1, 20)
    write_vectors(tmp_path / "v.npy", documents)
    file = VectorFile(tmp_path / "v.npy")
    np.testing.assert_array_equal(file[3:7], documents[3:7])
    np.testing.assert_array_equal(file[15:99], documents[15:])
    np.testing.assert_array_equal(file[np.array([19, 0, 19])], documents[[19, 0, 19]])
    assert file[5:5].shape == (0, 24)
    whole = (tmp_path / "v.npy").read_bytes()
    (tmp_path / "v.npy").write_bytes(whole[:-4])
    with pytest.raises(DataError, match=rf"found {len(whole) - 4} bytes, need {len(whole)} for 20"):
        VectorFile(tmp_path / "v.npy")


def test_the_memory_decides_how_many_queries_are_held():
    few, many = queries_held(1000, 384, 60), queries_held(1000, 384, 2000)
    assert 0 < few < 1024 < many
    with pytest.raises(ConfigError, match="found a memory of 10 MB, need at least 26 MB"):
        queries_held(1000, 384, 10)
    queries, documents = drawn(50, 400)
    found = search(queries, documents, 30, query_block=7)
    np.testing.assert_array_equal(found[0], oracle(queries, documents, 30)[0])


def test_arrays_stay_within_the_memory_that_was_asked_for():
    import tracemalloc

    queries, documents = drawn(3000, 6000, 64)
    tracemalloc.start()
    try:
        search(queries, documents, 200, memory=24)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    result = 3000 * 200 * 12
    assert peak - result < 24e6
