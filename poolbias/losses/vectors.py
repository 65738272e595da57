"""Losses of bi-encoders: of a batch's matrix of inner products, or of a query's ranked documents.

A row of a matrix is a query, a column a document: the labelled ones of all queries of the batch,
and hard negatives after them.
"""

from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional as F

Form = Literal["paper", "released"]


def in_batch_margin(scores: Tensor, relevant: Tensor) -> Tensor:
    """Return RepBERT's loss of each query (Zhan et al. 2020): torch's MultiLabelMarginLoss.

    Σ max(0, 1 − (sᵢ − sⱼ)) / m over the query's labelled documents i and all other documents j of
    the batch, m documents in all.

    Args:
        scores: inner products, float32 [queries, m].
        relevant: which documents a query is labelled with, bool of that shape.

    Returns:
        float32 [queries].
    """
    gaps = 1 - (scores[:, :, None] - scores[:, None, :])  # [query, labelled, other]
    counted = relevant[:, :, None] & ~relevant[:, None, :]
    return (F.relu(gaps) * counted).sum(dim=(1, 2)) / scores.shape[1]


def in_batch_softmax(scores: Tensor, positive: Tensor, relevant: Tensor) -> Tensor:
    """Return minus the log probability of each query's labelled document among the batch's.

    Other documents that the query is labelled with are left out of the sum: our choice.

    Args:
        scores: inner products, float32 [queries, documents].
        positive: column of each query's labelled document, int64 [queries].
        relevant: which documents a query is labelled with, bool [queries, documents].

    Returns:
        float32 [queries], in nats.
    """
    return F.cross_entropy(_without_others(scores, positive, relevant), positive, reduction="none")


def contrastive_confidence(
    scores: Tensor, positive: Tensor, relevant: Tensor, beta: float, form: Form = "paper"
) -> Tensor:
    """Return the RCL of each query: NCE − β · CCR (Wang, Zhang and Nguyen, AAAI 2024).

    NCE is minus the log probability of the labelled document, CCR the mean of minus the log
    probabilities of all documents of the query, the labelled one included. In the form `released`
    (`loss_my_cores_pos` of wangskyGit/passage-sieve) β · CCR is subtracted once per document and
    the sum divided by their number: (NCE − (n + 1) β · CCR) / (n + 1), n negatives.

    Args:
        scores: cosines or inner products, float32 [queries, documents].
        positive: column of each query's labelled document, int64 [queries].
        relevant: which documents a query is labelled with, bool [queries, documents]; but for the
            positive they are left out.
        beta: β ≥ 0; 0 is NCE alone (over n + 1 in the form `released`).
        form: as above.

    Returns:
        float32 [queries].
    """
    kept = ~relevant
    kept[torch.arange(len(scores)), positive] = True
    negative_log = -torch.log_softmax(_without_others(scores, positive, relevant), dim=1)
    count = kept.sum(dim=1)
    nce = negative_log.gather(1, positive[:, None])[:, 0]
    ccr = torch.where(kept, negative_log, 0.0).sum(dim=1) / count
    if form == "paper":
        return nce - beta * ccr
    return (nce - count * beta * ccr) / count


def lambda_pairwise(scores: Tensor, relevant: Tensor, ranks: Tensor, cut: int) -> Tensor:
    """Return ADORE's loss of each query (Zhan et al., SIGIR 2021).

    Σ |1/rᵢ − 1/rⱼ| · softplus(sⱼ − sᵢ) over its labelled documents i and the others j: the pairwise
    logistic loss, weighted by what exchanging the two changes in the reciprocal rank; 1/r is 0 for
    ranks beyond `cut`.

    Args:
        scores: inner products, float32 [queries, documents].
        relevant: which documents a query is labelled with, bool of that shape.
        ranks: of the documents among all, from 1, without gradient, int64 of that shape; 0 is
            padding.
        cut: the last rank that counts.

    Returns:
        float32 [queries].
    """
    known = ranks > 0
    places = ranks.clamp(min=1).to(scores.dtype)
    gain = torch.where(known & (ranks <= cut), 1 / places, 0.0)
    weight = (gain[:, :, None] - gain[:, None, :]).abs()  # [query, labelled, other]
    counted = (relevant & known)[:, :, None] & (~relevant & known)[:, None, :]
    losses = F.softplus(scores[:, None, :] - scores[:, :, None])
    return (weight * counted * losses).sum(dim=(1, 2))


def beta_at(step: int, steps: int, beta: float, start: float) -> float:
    """Return CCR's factor at a step: 0 in the first part of the steps, then `beta`.

    The authors advise to add CCR after some ordinary training; when is our choice.

    Args:
        step: from 1.
        steps: in all.
        beta: the factor from then on.
        start: share of the steps before which it is 0.
    """
    return beta if step > start * steps else 0.0


def _without_others(scores: Tensor, positive: Tensor, relevant: Tensor) -> Tensor:
    others = relevant.clone()
    others[torch.arange(len(scores)), positive] = False
    return scores.masked_fill(others, -torch.inf)
