"""Losses of a labelled document among its negatives, taken together as one list."""

import torch
from torch import Tensor
from torch.nn import functional as F


def softmax_cross_entropy(
    positive: Tensor, negatives: Tensor, shares: Tensor | None = None
) -> Tensor:
    """Return the loss of each list: minus the log probability of its labelled document.

    −log(eᵖ / (eᵖ + Σⱼ eⁿʲ)) = softplus(log Σⱼ eⁿʲ⁻ᵖ), the localised contrastive estimation of Gao,
    Dai and Callan (ECIR 2021). A share vⱼ stands before its negative within the sum,

        softplus(log Σⱼ vⱼ eⁿʲ⁻ᵖ),

    so that the gradient of nⱼ is proportional to vⱼ, as in importance sampling of the softmax's
    denominator: our choice, since no source weights a list. The mean of a pair's weights stands
    before its loss (`poolbias.losses.weighting`). So one negative of weight w gives exactly
    the pairwise w · softplus(n − p), equal weights w give w times the plain loss, and doubled
    weights double it. Whole weights within the sum, log(1 + Σⱼ wⱼ eⁿʲ⁻ᵖ), would do none of this.

    Args:
        positive: scores of the labelled documents, float32 [pairs].
        negatives: scores of the sampled negatives, float32 [pairs, negatives].
        shares: vⱼ ≥ 0 of each negative, [pairs, negatives], with mean 1 over a pair; None is 1.

    Returns:
        float32 [pairs], in nats, each ≥ 0.
    """
    gaps = negatives - positive[:, None]
    if shares is not None:
        gaps = gaps + shares.log()
    return F.softplus(gaps.logsumexp(dim=1))


def softmax_and_pointwise(
    positive: Tensor,
    negatives: Tensor,
    shares: Tensor | None = None,
    softmax: float = 1.0,
    pointwise: float = 1.0,
) -> Tensor:
    """Return the loss of method `dml`: the softmax of the list and each document by itself.

    a · softplus(log Σⱼ vⱼ eⁿʲ⁻ᵖ) + b · (softplus(−p) + meanⱼ vⱼ softplus(nⱼ)): the softmax cross
    entropy, and the binary cross entropies of the labelled document as 1 and of the negatives as 0.
    A reconstruction of ours, not the formula of Zhang and Yang (CIKM 2021), whose paper could not
    be read; its abstract tells of two granularities, for relative relations and absolute scores.
    The mean over negatives, so that their number does not shift the balance, is our choice.

    Args:
        positive: scores of the labelled documents, float32 [pairs].
        negatives: scores of the sampled negatives, float32 [pairs, negatives].
        shares: vⱼ as for `softmax_cross_entropy`.
        softmax: a, the factor of the first part.
        pointwise: b, the factor of the second.

    Returns:
        float32 [pairs], in nats, each ≥ 0.
    """
    relative = softmax_cross_entropy(positive, negatives, shares)
    irrelevant = F.softplus(negatives)
    if shares is not None:
        irrelevant = shares * irrelevant
    absolute = F.softplus(-positive) + torch.mean(irrelevant, dim=1)
    return softmax * relative + pointwise * absolute
