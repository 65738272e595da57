"""Turning texts into vectors with a bi-encoder."""

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Literal, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from poolbias.shards import in_shards


class BiEncoder(Protocol):
    """What `encode` needs of a model."""

    dimension: int
    device: torch.device

    def tokenize(self, texts: list[str]) -> list[list[int]]:
        """Return the token ids of each text, at least one."""
        ...

    def embed(self, tokens: torch.Tensor) -> torch.Tensor:
        """Return the float32 vectors [n, dimension] of texts [n, tokens] without padding."""
        ...


def encode(
    texts: Sequence[str],
    model: BiEncoder,
    batch_tokens: int = 2048,
    precision: Literal["float32", "bf16"] = "float32",
    kept: Path | None = None,
    name: str = "texts",
) -> NDArray[np.float32]:
    """Encode texts; a batch holds texts of one length only, so that nothing is padded.

    Texts are encoded from long to short (memory runs out at once or not at all) and returned in
    the order given. Vectors of the same text under another `batch_tokens` or number of threads
    differ by rounding (in float32 about 1e-7 per component).

    Args:
        texts: any texts, also empty ones.
        model: the bi-encoder.
        batch_tokens: the most tokens in a batch of several texts.
        precision: of the matrix products; pooling is in float32.
        kept: folder of what is done, from which a job that was stopped goes on.
        name: of these texts within it.

    Returns:
        float32 [number of texts, model.dimension].
    """
    vectors = np.zeros((len(texts), model.dimension), np.float32)
    tokens = model.tokenize(list(texts))
    batches = _batches([len(ids) for ids in tokens], batch_tokens)

    def compute(rows: list[int]) -> NDArray[np.float32]:
        batch = torch.tensor([tokens[row] for row in rows], device=model.device)
        found: NDArray[np.float32] = model.embed(batch).float().cpu().numpy()
        return found

    with (
        torch.inference_mode(),
        torch.autocast(model.device.type, torch.bfloat16, enabled=precision == "bf16"),
    ):
        for rows, found in in_shards(batches, compute, kept, name, "encoding"):
            vectors[rows] = found
    return vectors


def _batches(lengths: list[int], batch_tokens: int) -> list[list[int]]:
    """Return rows of equal length, long ones first, each batch within the budget or of one row."""
    order = sorted(range(len(lengths)), key=lambda row: -lengths[row])
    batches = []
    for length, group in groupby(order, key=lambda row: lengths[row]):
        rows, size = list(group), max(1, batch_tokens // length)
        batches += [rows[start : start + size] for start in range(0, len(rows), size)]
    return batches
