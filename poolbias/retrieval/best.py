"""The best documents of each query, among pairs or among what several searches found."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Found = tuple[NDArray[np.int64], NDArray[np.float32]]  # rows of documents and scores, [queries, n]


def best_of_pairs(
    query: NDArray[np.int64],
    document: NDArray[np.int64],
    scores: NDArray[np.float32],
    order: NDArray[np.int64],
    shape: tuple[int, int],
) -> Found:
    """Return the best documents of each query among pairs.

    Args:
        query: rows of queries, int64 [pairs], never falling; each has `shape[1]` pairs or more.
        document: rows of documents, int64 [pairs].
        scores: float32 [pairs].
        order: int64 [documents], of equal scores the lower comes first; from 0 to below 2³².
        shape: queries, and how many documents each gets.

    Returns:
        Rows of documents, int64, and scores, float32, of that shape, best first.
    """
    counts = np.bincount(query, minlength=shape[0])
    starts = np.cumsum(counts) - counts
    bits = (scores + np.float32(0)).view(np.uint32)  # -0.0 is 0.0
    # Ordered as the numbers are, and then turned round: the better, the lower.
    falling = np.where(bits >> 31 == 1, bits, ~(bits | np.uint32(2**31)))
    keys = np.full((shape[0], int(counts.max(initial=0))), np.iinfo(np.uint64).max)
    place = np.arange(len(query)) - starts[query]
    keys[query, place] = (falling.astype(np.uint64) << 32) | order[document].astype(np.uint64)
    best = np.argsort(keys, axis=1)[:, : shape[1]] + starts[:, None]
    return document[best], scores[best]


def merge(parts: Sequence[Found], depth: int, tie_order: NDArray[np.int64] | None = None) -> Found:
    """Return the best of what searches of parts of the documents found, as one search of all.

    Args:
        parts: rows of all documents, int64 [n, ...], and scores, float32 of that shape.
        depth: how many documents per query.
        tie_order: as for `search`.

    Returns:
        Rows of documents, int64 [n, depth or as many as there are], and scores, float32.
    """
    rows, scores = (np.concatenate(part, axis=1) for part in zip(*parts, strict=True))
    order = np.arange(int(rows.max(initial=0)) + 1) if tie_order is None else tie_order
    query = np.repeat(np.arange(len(rows)), rows.shape[1])
    shape = (len(rows), min(depth, rows.shape[1]))
    return best_of_pairs(query, rows.ravel(), scores.ravel(), order, shape)
