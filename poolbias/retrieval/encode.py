"""Turning texts into vectors with a bi-encoder."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray

from poolbias.models.biencoder import BiEncoder, Role
from poolbias.shards import in_shards


def encode(
    texts: Sequence[str],
    model: BiEncoder,
    role: Role = "document",
    batch_tokens: int = 4096,
    precision: Literal["float32", "bf16"] = "float32",
    kept: Path | None = None,
    name: str = "texts",
) -> NDArray[np.float32]:
    """Encode texts; a batch holds texts of nearly one length, so that hardly anything is padded.

    Texts are encoded from long to short (memory runs out at once or not at all) and returned in
    the order given. Vectors of the same text under another `batch_tokens` or number of threads
    differ by rounding (in float32 about 1e-7 per component).

    Args:
        texts: any texts, also empty ones.
        model: the bi-encoder, in evaluation mode.
        role: whether the texts are queries or documents.
        batch_tokens: the most tokens in a batch of several texts.
        precision: of the matrix products; pooling is in float32.
        kept: folder of what is done, from which a job that was stopped goes on.
        name: of these texts within it.

    Returns:
        float32 [number of texts, model.dimension].
    """
    vectors = np.zeros((len(texts), model.dimension), np.float32)
    tokens = model.tokenize(texts, role)
    batches = _batches([len(ids) for ids in tokens], batch_tokens)

    def compute(rows: list[int]) -> NDArray[np.float32]:
        sequences = model.sequences([tokens[row] for row in rows], role)
        found = model.vectors(sequences, role, precision == "bf16")
        return np.asarray(found.cpu().numpy())

    with torch.inference_mode():
        for rows, found in in_shards(batches, compute, kept, name, "encoding"):
            vectors[rows] = found
    return vectors


def _batches(lengths: list[int], batch_tokens: int) -> list[list[int]]:
    """Return rows, those of long texts first, each batch within the budget or of one row."""
    batches: list[list[int]] = []
    held = batch_tokens
    for row in sorted(range(len(lengths)), key=lambda row: -lengths[row]):
        if held + lengths[row] > batch_tokens:
            batches.append([])
            held = 0
        batches[-1].append(row)
        held += lengths[row]
    return batches
