"""Exact inner-product search over vectors, and the files they are kept in."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from poolbias.errors import DataError
from poolbias.files import atomic_path

Pairs = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]  # query, document, score


def search(
    queries: NDArray[np.float32],
    documents: NDArray[np.float32],
    depth: int,
    tie_order: NDArray[np.int64] | None = None,
    query_block: int = 256,
    document_block: int = 16384,
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return each query's best documents by inner product, exactly and reproducibly.

    A float32 matrix product gives slightly other sums for other shapes, threads and processors. So
    it only chooses: whatever lies within its rounding error of the best `depth` is scored again,
    each pair by itself in float64, and rounded to float32. The result then depends on the vectors
    alone, not on the blocks.

    Args:
        queries: float32 [n, dimension].
        documents: float32 [m, dimension], may be memory-mapped; read once per block of queries.
        depth: how many documents per query.
        tie_order: int64 [m], a number per document; of equal scores (float32) the lower comes
            first. Give the place of its id among all ids sorted, for the canonical order. Default
            is the row.
        query_block: queries held at a time.
        document_block: documents held at a time.

    Returns:
        Rows of `documents`, int64 [n, min(depth, m)], and their scores, float32 of that shape.

    Raises:
        DataError: if a vector is not finite.
        ValueError: if shapes do not fit.
    """
    if queries.ndim != 2 or documents.ndim != 2 or queries.shape[1] != documents.shape[1]:
        raise ValueError(f"shapes {queries.shape} and {documents.shape} do not fit")
    if depth < 1:
        raise ValueError(f"depth {depth} is less than 1")
    count, keep = len(documents), min(depth, len(documents))
    order = np.arange(count) if tie_order is None else tie_order
    rows = np.empty((len(queries), keep), np.int64)
    scores = np.empty((len(queries), keep), np.float32)
    for first in range(0, len(queries), query_block):
        block = np.asarray(queries[first : first + query_block], np.float32)
        best: Pairs = (np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float32))
        for start in range(0, count, document_block):
            part = np.asarray(documents[start : start + document_block], np.float32)
            worst = _worst_kept(best, len(block), keep)
            query, document = _near_the_best(block, part, keep, worst, (first, start))
            again = _scores_of_pairs(block, part, query, document)
            best = _merge(best, (query, document + start, again), order, keep)
        rows[first : first + len(block)] = best[1].reshape(len(block), keep)
        scores[first : first + len(block)] = best[2].reshape(len(block), keep)
    return rows, scores


def _worst_kept(best: Pairs, queries: int, keep: int) -> NDArray[np.float64]:
    """Return the score that a document must reach, per query; -inf while fewer are kept."""
    full = np.bincount(best[0], minlength=queries) == keep
    worst = np.full(queries, -np.inf)
    last = np.cumsum(np.bincount(best[0], minlength=queries)) - 1
    worst[full] = best[2][last[full]]
    return worst


def _near_the_best(
    queries: NDArray[np.float32],
    documents: NDArray[np.float32],
    keep: int,
    worst: NDArray[np.float64],
    offsets: tuple[int, int],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the pairs (query, document) that may belong to the best `keep`, and some more."""
    lengths = [np.linalg.norm(block.astype(np.float64), axis=1) for block in (queries, documents)]
    for name, length, offset in zip(("query", "document"), lengths, offsets, strict=True):
        if not np.isfinite(length).all():
            row = int(np.argmin(np.isfinite(length))) + offset
            raise DataError(f"vector of {name} in row {row} is not finite; encode the texts again.")
    # Higham's bound of a float32 sum of products in any order, doubled for the rounding of the
    # float64 score and of this line; `tiny` covers products that vanish.
    numbers, dimension = np.finfo(np.float32), queries.shape[1]
    error = dimension * (float(numbers.eps) * lengths[0] * lengths[1].max() + float(numbers.tiny))
    products = queries @ documents.T
    bound = worst - error
    if keep < len(documents):
        # At least `keep` documents of this block truly score this less the error.
        here = np.partition(products, -keep, axis=1)[:, -keep].astype(np.float64)
        bound = np.maximum(bound, here - 2 * error)
    query, document = np.nonzero(products >= bound[:, None])
    return query, document


def _scores_of_pairs(
    queries: NDArray[np.float32],
    documents: NDArray[np.float32],
    query: NDArray[np.int64],
    document: NDArray[np.int64],
    chunk: int = 1024,
) -> NDArray[np.float32]:
    """Return each pair's inner product, summed in float64 and rounded to float32."""
    exact = queries.astype(np.float64)
    scores = np.empty(len(query), np.float32)
    for start in range(0, len(query), chunk):
        some = slice(start, start + chunk)
        scores[some] = np.vecdot(exact[query[some]], documents[document[some]].astype(np.float64))
    return scores


def _merge(best: Pairs, found: Pairs, order: NDArray[np.int64], keep: int) -> Pairs:
    """Return the best `keep` pairs per query of both, by query, descending score, tie order."""
    query = np.concatenate((best[0], found[0]))
    document = np.concatenate((best[1], found[1]))
    score = np.concatenate((best[2], found[2]))
    sorting = np.lexsort((order[document], -score, query))
    query, document, score = query[sorting], document[sorting], score[sorting]
    sizes = np.bincount(query)
    place = np.arange(len(query)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    kept = place < keep
    return query[kept], document[kept], score[kept]


def write_vectors(path: Path, vectors: NDArray[np.float32]) -> None:
    """Write vectors atomically as a `.npy` file, which `read_vectors` maps into memory."""
    with atomic_path(path) as temporary, temporary.open("wb") as file:
        np.save(file, vectors, allow_pickle=False)


def read_vectors(path: Path, rows: int) -> NDArray[np.float32]:
    """Map a `.npy` file of float32 [rows, dimension] into memory.

    Raises:
        DataError: if it is not such a file, or holds another number of vectors.
    """
    try:
        vectors: NDArray[np.float32] = np.load(
            path, mmap_mode="r" if rows else None, allow_pickle=False
        )
    except (OSError, ValueError, EOFError) as error:
        raise DataError(
            f"{path}: not a file of vectors ({error}); encode the texts again."
        ) from error
    if vectors.ndim != 2 or vectors.dtype != np.float32 or len(vectors) != rows:
        raise DataError(
            f"{path}: found {vectors.dtype} {list(vectors.shape)}, need float32 [{rows}, "
            "dimension] as the table has rows; encode the texts again."
        )
    return vectors
