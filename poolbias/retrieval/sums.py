"""The exact scores of pairs of a query and a document."""

import warnings

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor


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
