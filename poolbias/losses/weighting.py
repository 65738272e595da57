"""How a weight per negative enters a loss per pair, whatever the loss."""

import torch
from torch import Tensor


def scale_and_shares(weights: Tensor) -> tuple[Tensor, Tensor]:
    """Return how much a pair counts, and how its negatives share that.

    The scale is the mean of the pair's weights, a share is weight / scale. A pair of one negative
    has its weight as its scale and 1 as its share, whatever the loss. Where the scale is 0 or not
    finite, shares are 1.

    Args:
        weights: float32 [pairs, negatives], each ≥ 0, without gradient.

    Returns:
        The scale, float32 [pairs], and the shares, float32 [pairs, negatives].
    """
    scale = weights.mean(dim=1)
    usable = (scale > 0) & torch.isfinite(scale)
    shares = torch.where(usable[:, None], weights / scale[:, None], 1.0)
    return scale, shares
