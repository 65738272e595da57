"""The exact scores of pairs of a query and a document, and the best pairs of each query."""

import warnings
from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Found = tuple[NDArray[np.int64], NDArray[np.float32]]  # rows of documents and scores, [queries, n]


def sums_of_pairs(
    queries: Tensor, documents: Tensor, query: NDArray[np.int64], document: NDArray[np.int64]
) -> NDArray[np.float32]:
    """Return the inner products of pairs, float32 [pairs], each summed by itself in float64.

    Args:
        queries: float64 [n, dimension].
        documents: float64 [m, dimension].
        query: rows of queries, int64 [pairs], never falling.
        document: rows of documents, int64 [pairs].
    """
    if queries.device.type != "cpu":
        places = [torch.from_numpy(rows).to(queries.device) for rows in (query, document)]
        parts = [torch.tensor_split(rows, len(rows) // 2**16 + 1) for rows in places]
        sums = [(queries[a] * documents[b]).sum(dim=1).float() for a, b in zip(*parts, strict=True)]
        return np.asarray(torch.cat(sums).cpu().numpy())
    # of a product of two matrices, the places that are asked for: each is one sum of its own
    starts = np.searchsorted(query, np.arange(len(queries) + 1))
    size = torch.Size((len(queries), len(documents)))
    rows, columns = torch.from_numpy(starts), torch.from_numpy(document)
    empty = torch.zeros(len(query), dtype=torch.float64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # sparse tensors are "in beta state"
        wanted = torch.sparse_csr_tensor(rows, columns, empty, size)
        found = torch.sparse.sampled_addmm(wanted, queries, documents.T, beta=0.0)
    return np.asarray(found.values().float().numpy())


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
