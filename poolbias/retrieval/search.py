"""Exact inner-product search that streams documents, in a bounded memory."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from poolbias.errors import ConfigError, DataError
from poolbias.retrieval.best import Found, best_of_pairs
from poolbias.retrieval.held import Held
from poolbias.retrieval.rough import Rough
from poolbias.retrieval.sums import sums_of_pairs

PRODUCTS = 1024  # queries whose products with a block are there at a time
DOCUMENT_BLOCK = 4096
MEMORY = 1024  # MB


class Vectors(Protocol):
    """What is searched: an array [vectors, dimension], a memory map or a `VectorFile`."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Return (vectors, dimension)."""
        ...

    def __len__(self) -> int: ...

    def __getitem__(self, rows: Any) -> NDArray[Any]: ...


def search(
    queries: NDArray[Any],
    documents: Vectors,
    depth: int,
    tie_order: NDArray[np.int64] | None = None,
    query_block: int | None = None,
    document_block: int = DOCUMENT_BLOCK,
    memory: int = MEMORY,
    device: str = "cpu",
) -> Found:
    """Return each query's best documents by inner product, exactly and reproducibly.

    A float32 matrix product gives slightly other sums for other shapes, threads and processors. So
    it only chooses: whatever lies within its rounding error of the best `depth` is summed again,
    each pair by itself in float64, and rounded to float32. The result then depends on the vectors
    alone, not on blocks, threads or shards. Documents are read twice per block of queries, for
    choosing and for the sums, in their order.

    Args:
        queries: float32 or float16 [n, dimension].
        documents: float32 or float16 [m, dimension].
        depth: how many documents per query.
        tie_order: int64 [m], a number per document; of equal scores (float32) the lower comes
            first. Give the place of its id among all ids sorted, for the canonical order. Default
            is the row.
        query_block: queries held at a time; None is what the memory allows.
        document_block: documents held at a time.
        memory: the most that the search allocates besides its arguments and its result, in MB.
        device: where products are made, `cpu` or `cuda`; sums are the same but for rounding.

    Returns:
        Rows of `documents`, int64 [n, min(depth, m)], and their scores, float32 of that shape.

    Raises:
        ConfigError: if the memory does not suffice for one query.
        DataError: if a vector is not finite, or so long that products overflow.
        ValueError: if shapes do not fit.
    """
    if queries.ndim != 2 or len(documents.shape) != 2 or queries.shape[1] != documents.shape[1]:
        raise ValueError(f"shapes {queries.shape} and {documents.shape} do not fit")
    if depth < 1:
        raise ValueError(f"depth {depth} is less than 1")
    count, keep = len(documents), min(depth, len(documents))
    block = min(document_block, max(count, 1))
    order = np.arange(count) if tie_order is None else tie_order
    rows = np.empty((len(queries), keep), np.int64)
    scores = np.empty((len(queries), keep), np.float32)
    size = query_block or queries_held(keep, queries.shape[1], memory, block)
    for first in range(0, len(queries) if keep else 0, size):
        some = slice(first, first + size)
        asked = torch.from_numpy(np.array(queries[some], np.float32)).to(device)
        rows[some], scores[some] = _Search(asked, documents, keep, block, order, first).run()
    return rows, scores


def queries_held(keep: int, dimension: int, memory: int, block: int = DOCUMENT_BLOCK) -> int:
    """Return how many queries a memory (MB) suffices for.

    Raises:
        ConfigError: if it does not suffice for one.
    """
    fixed = block * dimension * (4 + 4 + 8)  # a block as read, in float32 and in float64
    products = block * (4 + 1 + 8)  # those of a query, which of them pass, and their places
    each = Held.bytes_per_query(2 * keep + block) + 72 * keep + 12 * dimension
    room = memory * 10**6 - fixed
    several = room // (each + products)
    if several > PRODUCTS:
        several = (room - PRODUCTS * products) // each
    if several < 1:
        least = -(-(fixed + each + products) // 10**6)
        raise ConfigError(
            f"search: found a memory of {memory} MB, need at least {least} MB for {keep} documents "
            f"per query and {dimension} dimensions; raise it."
        )
    return int(several)


class _Search:
    """One block of queries against all documents."""

    def __init__(
        self,
        queries: Tensor,
        documents: Vectors,
        keep: int,
        block: int,
        order: NDArray[np.int64],
        first: int,
    ) -> None:
        self.queries, self.documents, self.block, self.order = queries, documents, block, order
        self.rough = Rough(queries, _lengths(queries, "query", first))
        self.held = Held(len(queries), keep, 2 * keep + block, order)
        self.parts = _pieces(slice(0, len(queries)), -(-len(queries) // PRODUCTS))

    def run(self) -> Found:
        threads = torch.get_num_threads()
        with ThreadPoolExecutor(threads) as workers:
            for start, block in self._blocks():
                lengths = _lengths(block, "document", start)
                multiply = self.rough.prepare(block, lengths, start, self.held)
                for part in self.parts:
                    take = partial(self._take, part.start, start, multiply(part))
                    list(workers.map(take, _pieces(part, threads)))
            return self._best(list(workers.map(self._pairs, self.parts)))

    def _blocks(self) -> Iterator[tuple[int, Tensor]]:
        """Yield the first row and the vectors, float32 [documents, dimension], of each block."""
        for start in range(0, len(self.documents), self.block):
            block = np.require(self.documents[start : start + self.block], np.float32, ["C", "W"])
            yield start, torch.from_numpy(block).to(self.queries.device)

    def _take(self, first: int, start: int, products: Tensor, some: slice) -> None:
        """Hold what may be among the best of some queries, of a block's products."""
        self.held.make_room(some, products.shape[1], self._sums_of_rows)
        within = products[some.start - first : some.stop - first]
        if start == 0 and within.device.type == "cpu":
            self.held.begin(some, within.numpy())
        query, document, values = _passing(within, self.held.bound[some])
        self.held.add(some, query, document + start, values)

    def _pairs(self, some: slice) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        self.held.cut(some)
        return self.held.pairs(some)

    def _sums_of_rows(self, query: int, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the sums of one query and the documents of these rows, read one by one."""
        vectors = torch.from_numpy(np.array(self.documents[rows], np.float32)).double()
        asked = self.queries[query : query + 1].cpu().double()
        return sums_of_pairs(asked, vectors, np.zeros(len(rows), np.int64), np.arange(len(rows)))

    def _best(self, pairs: list[tuple[NDArray[np.int64], NDArray[np.int64]]]) -> Found:
        """Sum the pairs held again, block by block, and return the best of each query."""
        query, document = (np.concatenate(part) for part in zip(*pairs, strict=True))
        number = document // self.block
        by_block = np.argsort(number, kind="stable")  # each block's pairs stay in order of queries
        ends = np.cumsum(np.bincount(number, minlength=-(-len(self.documents) // self.block)))
        scores = np.empty(len(query), np.float32)
        asked = self.queries.double()
        for place, (start, block) in enumerate(self._blocks()):
            here = by_block[ends[place - 1] if place else 0 : ends[place]]
            if len(here):
                pair = query[here], document[here] - start
                scores[here] = sums_of_pairs(asked, block.double(), *pair)
        return best_of_pairs(query, document, scores, self.order, (len(asked), self.held.keep))


def _passing(
    products: Tensor, bound: NDArray[np.float32]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]:
    """Return row, column and product of what reaches each row's bound, row by row."""
    if products.device.type == "cpu":  # NumPy finds the places twenty times faster than torch
        values = products.numpy()
        flat = np.flatnonzero(values >= bound[:, None])
        query = flat // values.shape[1]
        return query, flat - query * values.shape[1], values.reshape(-1)[flat]
    reached = products >= torch.from_numpy(bound).to(products.device)[:, None]
    places = torch.nonzero(reached)
    query, document, found = (
        part.cpu().numpy() for part in (places[:, 0], places[:, 1], products[reached])
    )
    return query, document, found


def _lengths(vectors: Tensor, name: str, first: int) -> NDArray[np.float64]:
    """Return the length of each vector, float64 [vectors]; `DataError` if one is not finite."""
    lengths = torch.linalg.vector_norm(vectors, dim=1, dtype=torch.float64).cpu().numpy()
    if not np.isfinite(lengths).all():
        row = int(np.argmin(np.isfinite(lengths))) + first
        raise DataError(f"vector of {name} in row {row} is not finite; encode the texts again.")
    return np.asarray(lengths)


def _pieces(whole: slice, number: int) -> list[slice]:
    """Return a slice cut into a number of pieces of nearly one size, none empty."""
    ends = np.linspace(whole.start, whole.stop, max(number, 1) + 1).astype(int).tolist()
    return [slice(a, b) for a, b in pairwise(ends) if a < b]
