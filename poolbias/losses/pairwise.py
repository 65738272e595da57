"""The pairwise cross entropy of the paper's Eq. 15 and 16."""

from torch import Tensor
from torch.nn import functional as F


def pairwise_cross_entropy(
    positive: Tensor, negative: Tensor, shares: Tensor | None = None
) -> Tensor:
    """Return the loss of each pair: minus the log probability that the positive wins.

    −log(eᵖ / (eᵖ + eⁿ)) = softplus(n − p), stable for scores of any size (Cai et al. 2022, Eq. 15).
    With several negatives it is the mean over them, each counting by its share: our choice.

    It sees differences of scores alone and leaves their level free, per query: adding a number to
    all scores of a query changes nothing.

    Args:
        positive: scores of the labelled documents, float32 [pairs].
        negative: scores of the sampled negatives, float32 [pairs] or [pairs, negatives].
        shares: how much each negative counts within its pair, [pairs, negatives], with mean 1 over
            a pair; None is 1 each.

    Returns:
        float32 [pairs], in nats, each ≥ 0.
    """
    negatives = negative.reshape(len(positive), -1)
    losses = F.softplus(negatives - positive[:, None])
    return (losses if shares is None else shares * losses).mean(dim=1)
