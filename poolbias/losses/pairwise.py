"""The pairwise cross entropy of the paper's Eq. 15 and 16."""

from torch import Tensor
from torch.nn import functional as F


def pairwise_cross_entropy(positive: Tensor, negative: Tensor) -> Tensor:
    """Return the loss of each pair: minus the log probability that the positive wins.

    −log(eᵖ / (eᵖ + eⁿ)) = softplus(n − p), stable for scores of any size (Cai et al. 2022, Eq. 15).

    Args:
        positive: scores of the labelled documents, float32 [pairs].
        negative: scores of the sampled negatives, float32 [pairs].

    Returns:
        float32 [pairs], in nats, each ≥ 0.
    """
    return F.softplus(negative - positive)
