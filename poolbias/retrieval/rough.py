"""Products of queries and documents that are fast and off by a known error."""

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from poolbias.errors import DataError
from poolbias.retrieval.held import Held

# Products in bfloat16 hold more documents, since their error is larger. Where the first block shows
# that the best would be held so many times over, float32 is faster: our choice.
MOST_HELD = 1.6


class Rough:
    """Products of the same queries with blocks of documents.

    In bfloat16, where the processor multiplies it several times faster than float32 and where its
    error is small beside the differences of products; in float32 elsewhere. It decides what a
    search costs, and nothing about what it finds.
    """

    def __init__(
        self, queries: Tensor, lengths: NDArray[np.float64], half: bool | None = None
    ) -> None:
        """Keep the queries, float32 [n, dimension], and their lengths, float64 [n].

        Args:
            queries: as above.
            lengths: as above.
            half: whether to multiply in bfloat16; None decides by processor and products.
        """
        self.queries, self.lengths = queries, lengths
        self.half = half if half is not None else queries.device.type == "cpu" and _fast_half()
        self.decided = half is not None or not self.half
        if self.half:
            self.rounded = queries.bfloat16()
            self.lost = _lengths(queries - self.rounded.float())

    def prepare(
        self, block: Tensor, lengths: NDArray[np.float64], start: int, held: Held
    ) -> Callable[[slice], Tensor]:
        """Tell `held` of the error to come; return what multiplies some queries with a block.

        Args:
            block: float32 [documents, dimension].
            lengths: of its vectors, float64 [documents].
            start: the row of its first document, for messages.
            held: what is to know the error.

        Raises:
            DataError: if vectors are so long that products overflow.
        """
        longest = float(lengths.max())
        if longest * float(self.lengths.max()) > float(np.finfo(np.float32).max) / 2:
            raise DataError(
                f"vectors of documents from row {start} on are up to {longest:.3g} long, so that "
                "products overflow; encode the texts again."
            )
        if not self.decided:
            self._decide(block, longest, held.keep)
        if not self.half:
            held.widen(self._error(block, longest))
            return lambda some: self.queries[some] @ block.T
        rounded = block.bfloat16()
        held.widen(self._error(block, longest) + self._error_of_half(block, rounded, longest))
        return lambda some: (self.rounded[some] @ rounded.T).float()

    def _error(self, block: Tensor, longest: float) -> NDArray[np.float64]:
        """Return the most that a product in float32 is off, float64 [queries].

        Higham's bound of a sum of products in any order, doubled for the rounding of the exact sum
        and of this line; `tiny` covers products that vanish.
        """
        numbers = np.finfo(np.float32)
        error = float(numbers.eps) * self.lengths * longest + float(numbers.tiny)
        return np.asarray(block.shape[1] * error)

    def _error_of_half(self, block: Tensor, rounded: Tensor, longest: float) -> NDArray[np.float64]:
        """Return what bfloat16 adds: what vectors lost (Cauchy-Schwarz), and the product's own."""
        lost = float(_lengths(block - rounded.float()).max())
        whole = 1 + 2.0**-8  # a rounded vector may be longer than the vector
        result = 2.0**-8 * self.lengths * longest * whole**2
        # twice: partial sums may be rounded before they are added
        return np.asarray(self.lost * longest * whole + self.lengths * whole * lost + 2 * result)

    def _decide(self, block: Tensor, longest: float, keep: int) -> None:
        """Stay with bfloat16 only where a sample's products with a block lie far enough apart."""
        self.decided = True
        count = min(len(self.queries), 16)
        rounded = block.bfloat16()
        error = (self._error(block, longest) + self._error_of_half(block, rounded, longest))[:count]
        products = self.queries[:count] @ block.T
        rank = min(max(keep * 4 // 10, 1), len(block))  # deep enough for what later blocks bring
        worst = torch.topk(products, rank, dim=1).values[:, -1:]
        reached = (
            products >= worst - torch.from_numpy(2 * error).float().to(products.device)[:, None]
        )
        self.half = bool(reached.sum() <= MOST_HELD * rank * count)


def _lengths(vectors: Tensor) -> NDArray[np.float64]:
    found = torch.linalg.vector_norm(vectors, dim=1, dtype=torch.float64)
    return np.asarray(found.cpu().numpy())


def _fast_half() -> bool:
    """Return whether the processor multiplies bfloat16 by itself."""
    known = ("_is_avx512_bf16_supported", "_is_amx_tile_supported")
    return any(getattr(torch.cpu, name, lambda: False)() for name in known)
