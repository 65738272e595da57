"""The weight of training without correction: every pair counts the same."""

import torch
from torch import Tensor


def one(positive: Tensor, negative: Tensor) -> Tensor:
    """Return a weight of 1 for each negative, float32, of the shape of `negative`."""
    return torch.ones_like(negative)
