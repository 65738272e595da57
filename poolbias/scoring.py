"""Re-ranking: every query-document pair of a run scored once, by length, in order again."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from poolbias.shards import in_shards
from poolbias.tokens import Limits, TokenStore


@torch.inference_mode()
def score(
    ranker: nn.Module,
    scorer: Callable[[nn.Module, Any, str], torch.Tensor],
    store: TokenStore,
    query_rows: NDArray[np.int64],
    document_rows: NDArray[np.int64],
    limits: Limits,
    precision: str,
    batch_tokens: int = 2048,
    kept: Path | None = None,
) -> NDArray[np.float32]:
    """Return the score of each pair, float32 [pairs], in the order of the pairs.

    Pairs are scored from the longest to the shortest, those of one length together, so that
    nothing is padded, in batches of at most `batch_tokens` tokens (our choice, by measurement:
    what a layer makes of a batch then stays near the cores). What is done is kept in the folder
    `kept`, from which a job that was stopped goes on.
    """
    ranker.eval()
    query, document = store.lengths(query_rows, document_rows, limits)
    batches = list(_batches(query + document + 3, batch_tokens))
    scores = np.empty(len(query_rows), dtype=np.float32)

    def compute(rows: NDArray[np.int64]) -> NDArray[np.float32]:
        sequences = store.sequences(query_rows[rows], document_rows[rows], limits)
        found: NDArray[np.float32] = scorer(ranker, sequences, precision).cpu().numpy()
        return found

    for rows, found in in_shards(batches, compute, kept, "scores", "scoring"):
        scores[rows] = found
    return scores


def _batches(lengths: NDArray[np.int64], batch_tokens: int) -> Iterator[NDArray[np.int64]]:
    """Yield the rows of each batch, all of one length, the longest first."""
    order = np.argsort(-lengths, kind="stable")
    ends = np.flatnonzero(np.diff(lengths[order])) + 1
    for rows in np.split(order, ends):
        size = max(1, batch_tokens // int(lengths[rows[0]]))
        for start in range(0, len(rows), size):
            yield rows[start : start + size]
