"""The machine's ceiling: matrix products of the encoder's own shapes, as fast as they go."""

import torch
from torch.nn import functional as F

from benchmarks.timing import seconds

TOKENS, WIDTH, WIDE = 2640, 384, 1536  # of a step of 32 pairs of the embedded study


def flops_per_second(kind: torch.dtype, repeats: int = 15) -> float:
    """Return the best rate of MiniLM's two largest products, floating point operations a second."""
    narrow, wide = (torch.randn(TOKENS, size).to(kind) for size in (WIDTH, WIDE))
    up, down = torch.randn(WIDE, WIDTH).to(kind), torch.randn(WIDTH, WIDE).to(kind)
    best = min(
        seconds(lambda: (F.linear(narrow, up), F.linear(wide, down))) for _ in range(repeats)
    )
    return 2 * 2 * TOKENS * WIDTH * WIDE / best


def encoder_flops(layers: int) -> float:
    """Return the operations of the linear layers for one token, forward only (MiniLM's width).

    Four products of the attention and two of the feed-forward part, a multiplication and an
    addition each; a training step makes three times as many. Attention itself, embeddings and
    normalisation are not counted, so a share of the ceiling is never flattered.
    """
    return 2.0 * layers * (4 * WIDTH * WIDTH + 2 * WIDTH * WIDE)
