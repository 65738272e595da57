"""The documents that may still be among the best of each query, while blocks of them pass by."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

# The exact sums, float32 [rows], of a query and the documents of these rows.
Exact = Callable[[int, NDArray[np.int64]], NDArray[np.float32]]


@dataclass
class Held:
    """Documents held per query, with the float32 products that they were chosen by.

    A product is off by at most `error`, so whatever lies within twice that below the `keep`-th best
    product may belong to the best `keep`, and nothing below can.

    Attributes:
        queries: how many.
        keep: how many documents are asked for.
        room: how many documents can be held per query, at least `keep` and one block's more.
        order: of rows of documents, int64 [documents]; of equal scores the lowest comes first.
        error: float64 [queries], of a product; it may grow.
        products: float32 [queries, room].
        rows: of the documents held, int64 [queries, room].
        count: of the documents held, int64 [queries].
        bound: the product that a document must reach to be held, float32 [queries].
    """

    queries: int
    keep: int
    room: int
    order: NDArray[np.int64]
    error: NDArray[np.float64] = field(init=False)
    products: NDArray[np.float32] = field(init=False)
    rows: NDArray[np.int64] = field(init=False)
    count: NDArray[np.int64] = field(init=False)
    bound: NDArray[np.float32] = field(init=False)

    def __post_init__(self) -> None:
        self.error = np.zeros(self.queries)
        self.products = np.empty((self.queries, self.room), np.float32)
        self.rows = np.empty((self.queries, self.room), np.int64)
        self.count = np.zeros(self.queries, np.int64)
        self.bound = np.full(self.queries, -np.inf, np.float32)

    @staticmethod
    def bytes_per_query(room: int) -> int:
        """Return the memory that a query needs."""
        return room * (4 + 8) + 32

    def widen(self, error: NDArray[np.float64]) -> None:
        """Take the error of the products to come, float64 [queries], if it is larger."""
        wider = np.maximum(self.error, error)
        if (wider > self.error).any():
            self.bound = _below(self.bound - 2 * (wider - self.error))
            self.error = wider

    def add(
        self,
        some: slice,
        query: NDArray[np.int64],
        document: NDArray[np.int64],
        products: NDArray[np.float32],
    ) -> None:
        """Hold more documents of the queries `some`.

        Args:
            some: rows of queries.
            query: row within `some` of each pair, int64 [pairs], never falling.
            document: row of its document, int64 [pairs].
            products: float32 [pairs].
        """
        counts = np.bincount(query, minlength=len(self.count[some]))
        starts = np.cumsum(counts) - counts
        first = (np.arange(some.start, some.stop) * self.room) + self.count[some] - starts
        place = np.arange(len(query)) + first[query]
        self.products.reshape(-1)[place] = products
        self.rows.reshape(-1)[place] = document
        self.count[some] += counts

    def begin(self, some: slice, products: NDArray[np.float32]) -> None:
        """Take the bound of the first block's products, float32 [queries, documents]."""
        documents = products.shape[1]
        if documents > self.keep:
            worst = np.partition(products, documents - self.keep, axis=1)
            self.bound[some] = _below(worst[:, documents - self.keep] - 2 * self.error[some])

    def make_room(self, some: slice, block: int, exact: Exact) -> None:
        """Let go of what cannot be among the best, where otherwise little room would be left.

        Args:
            some: rows of queries.
            block: documents of the next block, all of which must find room.
            exact: sums again, for queries with more ties than there is room for.
        """
        count = self.count[some]
        if count.max() + block > self.room or count.mean() > 1.9 * self.keep:
            self.cut(some)
            for number in np.flatnonzero(self.count[some] + block > self.room):
                self._settle(some.start + int(number), exact)

    def cut(self, some: slice) -> None:
        """Let go of what cannot be among the best of the queries `some`."""
        count, held = self.count[some], int(self.count[some].max())
        if held <= self.keep:
            return
        products, rows = self.products[some][:, :held], self.rows[some][:, :held]
        empty = np.arange(held) >= count[:, None]
        products[empty] = -np.inf
        worst = np.partition(products, held - self.keep, axis=1)[:, held - self.keep]
        self.bound[some] = _below(worst - 2 * self.error[some])
        stays = (products >= self.bound[some][:, None]) & ~empty  # of fewer than `keep` all stay
        kept = np.count_nonzero(stays, axis=1)
        query = np.repeat(np.arange(len(kept)), kept)
        values, documents = products[stays], rows[stays]
        self.count[some] = 0
        self.add(some, query, documents, values)

    def pairs(self, some: slice) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the pairs held of the queries `some`.

        Returns:
            Rows of queries, never falling, and of documents, int64 [pairs] each.
        """
        there = np.arange(self.room) < self.count[some][:, None]
        query = np.repeat(np.arange(some.start, some.stop), self.count[some])
        return query, self.rows[some][there]

    def _settle(self, query: int, exact: Exact) -> None:
        """Keep the best `keep` of one query, by exact sums and then in the order of ties."""
        held = int(self.count[query])
        rows = self.rows[query, :held]
        best = np.lexsort((self.order[rows], -exact(query, rows)))[: self.keep]
        self.rows[query, : self.keep] = rows[best]
        self.products[query, : self.keep] = self.products[query, :held][best]
        self.count[query] = self.keep


def _below(values: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return float32 numbers that are below values, of the same shape."""
    return np.nextafter(values.astype(np.float32), np.float32(-np.inf))
