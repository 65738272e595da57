"""Re-ranking: every query-document pair of a run scored once, by length, in order again."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from poolbias.stage import progress
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
    batch_tokens: int = 8192,
) -> NDArray[np.float32]:
    """Return the score of each pair, float32 [pairs], in the order of the pairs.

    Pairs are scored from the longest to the shortest in batches of at most `batch_tokens` tokens,
    padding included, so that little is padded.
    """
    ranker.eval()
    query, document = store.lengths(query_rows, document_rows, limits)
    lengths = query + document + 3
    order = np.argsort(-lengths, kind="stable")
    batches = []
    start = 0
    while start < len(order):
        size = max(1, batch_tokens // int(lengths[order[start]]))
        batches.append(order[start : start + size])
        start += size
    scores = np.empty(len(order), dtype=np.float32)
    for rows in progress(batches, len(batches), "scoring", "batches"):
        batch = store.batch(query_rows[rows], document_rows[rows], limits)
        scores[rows] = scorer(ranker, [batch], precision).cpu().numpy()
    return scores
