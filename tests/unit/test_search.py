import math

import numpy as np
import pytest

from poolbias.errors import DataError
from poolbias.retrieval.search import search
from poolbias.retrieval.vectors import VectorFile, write_vectors


def oracle(queries, documents, depth, order=None):
    """A full sort of exactly rounded inner products, by descending float32 score, then order."""
    order = range(len(documents)) if order is None else order
    rows, scores = [], []
    for query in queries.astype(float):
        exact = [np.float32(math.fsum(query * document)) for document in documents.astype(float)]
        best = sorted(range(len(documents)), key=lambda row: (-exact[row], order[row]))[:depth]
        rows.append(best)
        scores.append([exact[row] for row in best])
    return np.array(rows), np.array(scores)


@pytest.fixture
def vectors():
    generator = np.random.default_rng(7)
    queries = generator.normal(size=(23, 16)).astype(np.float32)
    documents = generator.normal(size=(300, 16)).astype(np.float32)
    documents[200:260] = documents[:60]  # ties, also across blocks and at the cut
    documents[100:120] = documents[5]
    return queries, documents


def test_equals_a_full_sort_by_score_then_order(vectors):
    queries, documents = vectors
    order = np.random.default_rng(8).permutation(300)
    for depth in (1, 10, 37):
        rows, scores = search(queries, documents, depth, order)
        expected_rows, expected_scores = oracle(queries, documents, depth, order)
        np.testing.assert_array_equal(rows, expected_rows)
        np.testing.assert_array_equal(scores, expected_scores)
    assert (rows.dtype, scores.dtype) == (np.int64, np.float32)


def test_without_ties_it_is_numpys_order():
    generator = np.random.default_rng(9)
    queries, documents = (generator.normal(size=(n, 384)).astype(np.float32) for n in (20, 500))
    rows, scores = search(queries, documents, 50)
    products = queries.astype(float) @ documents.astype(float).T
    np.testing.assert_array_equal(rows, np.argsort(-products, axis=1)[:, :50])
    np.testing.assert_allclose(scores, -np.sort(-products, axis=1)[:, :50], rtol=1e-6)


@pytest.mark.parametrize("blocks", [(1, 300), (7, 64), (23, 41), (256, 7), (5, 1)])
def test_blocks_do_not_change_a_bit(vectors, blocks):
    expected = search(*vectors, 40)
    found = search(*vectors, 40, None, *blocks)
    np.testing.assert_array_equal(found[0], expected[0])
    assert found[1].tobytes() == expected[1].tobytes()


def test_a_query_alone_scores_as_among_others(vectors):
    queries, documents = vectors
    rows, scores = search(queries, documents, 20)
    for number in range(len(queries)):
        alone = search(queries[number : number + 1], documents, 20)
        np.testing.assert_array_equal(alone[0][0], rows[number])
        assert alone[1][0].tobytes() == scores[number].tobytes()


def test_sums_that_float32_gets_wrong():
    generator = np.random.default_rng(3)
    small = generator.normal(size=(400, 8)).astype(np.float32)
    large = generator.normal(size=(400, 8)).astype(np.float32) * 9000
    documents = np.concatenate([large, small, -large], axis=1)  # the large parts cancel
    queries = np.full((40, 24), 77, np.float32)
    queries[:, 8:16] = generator.normal(size=(40, 8))
    products = queries @ documents.T
    expected_rows, expected_scores = oracle(queries, documents, 25)
    assert (np.argsort(-products, axis=1)[:, :25] != expected_rows).any()
    for document_block in (400, 30, 3):
        rows, scores = search(queries, documents, 25, document_block=document_block)
        np.testing.assert_array_equal(rows, expected_rows)
        np.testing.assert_allclose(scores, expected_scores, rtol=1e-6)


def test_depth_beyond_the_collection_returns_all_of_it(vectors):
    queries, documents = vectors
    rows, scores = search(queries, documents[:9], 50, document_block=4)
    assert rows.shape == scores.shape == (23, 9)
    np.testing.assert_array_equal(np.sort(rows, axis=1), np.tile(np.arange(9), (23, 1)))


def test_no_queries(vectors):
    rows, scores = search(vectors[0][:0], vectors[1], 5)
    assert rows.shape == scores.shape == (0, 5)


@pytest.mark.parametrize(("which", "name"), [(0, "query"), (1, "document")])
def test_vectors_that_are_not_finite_stop(vectors, which, name):
    vectors[which][21, 3] = np.nan
    with pytest.raises(DataError, match=f"vector of {name} in row 21 is not finite"):
        search(*vectors, 5, query_block=10, document_block=10)


def test_wrong_shapes_stop(vectors):
    with pytest.raises(ValueError, match="do not fit"):
        search(vectors[0], vectors[1][:, :5], 5)
    with pytest.raises(ValueError, match="depth 0"):
        search(*vectors, 0)


def test_vectors_survive_their_file_and_can_be_searched_there(vectors, tmp_path):
    write_vectors(tmp_path / "documents.npy", vectors[1])
    mapped = VectorFile(tmp_path / "documents.npy", 300)
    np.testing.assert_array_equal(mapped[5:], vectors[1][5:])
    np.testing.assert_array_equal(search(vectors[0], mapped, 9)[0], search(*vectors, 9)[0])


def test_a_file_that_does_not_fit_the_table_is_refused(vectors, tmp_path):
    path = tmp_path / "documents.npy"
    write_vectors(path, vectors[1])
    with pytest.raises(
        DataError, match=r"found float32 \[300, 16\], need float32 or float16 \[299, dimension\]"
    ):
        VectorFile(path, 299)
    write_vectors(path, vectors[1].astype(np.float64))
    with pytest.raises(DataError, match="found float64"):
        VectorFile(path, 300)
    path.write_bytes(b"nonsense")
    with pytest.raises(DataError, match="not a file of vectors"):
        VectorFile(path, 300)
