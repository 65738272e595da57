"""The machine's ceiling: matrix products of the encoder's own shapes, as fast as they go."""

from functools import partial

import torch
from torch.nn import functional as F

from benchmarks.setting import Outcome, Setting
from benchmarks.timing import Work, of_rounds, rounds, timed
from benchmarks.workers import Side, workers

TOKENS, WIDTH, WIDE = 2640, 384, 1536  # of a step of 32 pairs of the embedded study
PRODUCTS = 15  # tried for one rate


def ceiling(kind: torch.dtype) -> Work:
    """Return a work that returns the rate, see `flops_per_second`."""
    return partial(flops_per_second, kind)


def flops_per_second(kind: torch.dtype) -> float:
    """Return the best rate of MiniLM's two largest products, floating point operations a second."""
    narrow, wide = (torch.randn(TOKENS, size).to(kind) for size in (WIDTH, WIDE))
    up, down = torch.randn(WIDE, WIDTH).to(kind), torch.randn(WIDTH, WIDE).to(kind)
    best = min(
        timed(lambda: (F.linear(narrow, up), F.linear(wide, down))).seconds for _ in range(PRODUCTS)
    )
    return 2 * 2 * TOKENS * WIDTH * WIDE / best


def encoder_flops(layers: int) -> float:
    """Return the operations of the linear layers for one token, forward only (MiniLM's width).

    Four products of the attention and two of the feed-forward part, a multiplication and an
    addition each; a training step makes three times as many. The last layer is left out: the packed
    engine computes it for one token a sequence. Attention itself, embeddings and normalisation are
    not counted either, so a share of the ceiling is never flattered.
    """
    return 2.0 * (layers - 1) * (4 * WIDTH * WIDTH + 2 * WIDTH * WIDE)


def precisions(setting: Setting) -> Outcome:
    """Measure how much faster products are in bf16 than in float32: what bf16 can bring at most."""
    kinds = {"bf16": torch.bfloat16, "float32": torch.float32}
    sides = {name: Side(partial(ceiling, kind), ours=True) for name, kind in kinds.items()}
    with workers(sides, setting.threads) as works:
        rates = rounds(works, setting.repeats).results
    values = [a / b for a, b in zip(rates["bf16"], rates["float32"], strict=True)]
    best = {name: max(found) / 1e9 for name, found in rates.items()}
    note = f"{best['bf16']:.0f} against {best['float32']:.0f} GFLOP/s at best"
    return Outcome([of_rounds("ceiling: products in bf16 / in float32", values, None, note)])
