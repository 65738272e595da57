"""Dropout whose masks are cheap on a CPU, keyed by torch's generator.

torch draws its masks one Bernoulli number at a time, a seventh of a training step on two cores.
Here one number from torch's generator seeds NumPy's SFC64, whose raw bits make the mask.
"""

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

LEVELS = 2**16  # a probability is rounded to a multiple of 1 / LEVELS


def drop(values: Tensor, probability: float, training: bool) -> Tensor:
    """Return `values` with each element set to 0 with a probability, the others scaled up.

    Where the values are not on a CPU this is torch's own dropout.

    Args:
        values: any shape, floating.
        probability: of a 0, in [0, 1), rounded to a multiple of 2⁻¹⁶; the scale 1 / (1 − p) is that
            of the rounded probability, in the values' own precision (in bfloat16, as with torch's
            own dropout, the mean is kept to .2%).
        training: whether to drop at all.
    """
    if values.device.type != "cpu":
        return F.dropout(values, probability, training)
    dropped = round(probability * LEVELS)
    if not training or not dropped:
        return values
    key = int(torch.randint(2**62, ()))
    words = np.random.SFC64(key).random_raw((values.numel() + 3) // 4)
    kept = words.view(np.uint16)[: values.numel()] >= dropped
    mask = torch.from_numpy(kept).view(values.shape).to(values.dtype)
    return values * mask.mul_(LEVELS / (LEVELS - dropped))


class Dropout(nn.Module):
    """`drop` as a module; takes the place of torch's in a model (it has no parameters)."""

    def __init__(self, probability: float) -> None:
        super().__init__()
        self.p = probability

    def forward(self, values: Tensor) -> Tensor:
        """Return `values` after dropout, of the same shape."""
        return drop(values, self.p, self.training)


def replace(model: nn.Module) -> None:
    """Replace every `torch.nn.Dropout` within a model."""
    for module in model.modules():
        for name, child in module.named_children():
            if isinstance(child, nn.Dropout):
                setattr(module, name, Dropout(child.p))


def attention(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float,
    dropout: float = 0.0,
    **_: object,
) -> tuple[Tensor, None]:
    """Return scaled dot-product attention (Vaswani et al. 2017) with this module's dropout.

    An attention function as transformers calls it: `query`, `key`, `value` [batch, heads, length,
    size], `attention_mask` added to the scores, result [batch, length, heads, size].
    """
    scores = torch.matmul(query, key.transpose(2, 3)) * scaling
    if attention_mask is not None:
        scores = scores + attention_mask
    weights = drop(torch.softmax(scores, dim=-1), dropout, module.training)
    return torch.matmul(weights, value).transpose(1, 2).contiguous(), None
