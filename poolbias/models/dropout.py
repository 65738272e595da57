"""Dropout whose masks are cheap on a CPU, keyed by torch's generator.

torch draws its masks one Bernoulli number at a time, a seventh of a training step on two cores.
Here one number from torch's generator seeds NumPy's SFC64, whose raw bits make the mask.
"""

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

LEVELS = 2**16  # a probability is rounded to a multiple of 1 / LEVELS
# The bits of 1.0: torch turns a mask of booleans into numbers fifteen times slower than NumPy
# multiplies these by it.
_ONE: dict[torch.dtype, np.signedinteger] = {
    torch.bfloat16: np.int16(0x3F80),
    torch.float32: np.int32(0x3F800000),
}


class Masks:
    """A source of masks with one probability; everything follows from one number of torch's."""

    def __init__(self, probability: float) -> None:
        """Take the key from torch's generator, and none where nothing is dropped.

        Args:
            probability: of a 0, in [0, 1), rounded to a multiple of 2⁻¹⁶.
        """
        self.dropped = round(probability * LEVELS)
        self.scale = LEVELS / (LEVELS - self.dropped)  # keeps the mean
        self.bits = np.random.SFC64(int(torch.randint(2**62, ()))) if self.dropped else None

    def __bool__(self) -> bool:
        return self.bits is not None

    def draw(self, shape: Sequence[int], kind: torch.dtype) -> Tensor:
        """Return a mask of 1 (kept) and 0 on the CPU, of a shape and of bfloat16 or float32."""
        count = math.prod(shape)
        if self.bits is None:
            return torch.ones(*shape, dtype=kind)
        words = self.bits.random_raw((count + 3) // 4)
        kept = words.view(np.uint16)[:count] >= self.dropped
        one = _ONE[kind]
        ones = np.multiply(kept.view(np.int8), one, dtype=one.dtype)
        return torch.from_numpy(ones).view(kind).view(*shape)


def drop(values: Tensor, probability: float, training: bool) -> Tensor:
    """Return `values` with each element set to 0 with a probability, the others scaled up.

    Where the values are not on a CPU this is torch's own dropout.

    Args:
        values: any shape, bfloat16 or float32.
        probability: of a 0, in [0, 1), rounded to a multiple of 2⁻¹⁶; the scale 1 / (1 − p) is that
            of the rounded probability, in the values' own precision (in bfloat16, as with torch's
            own dropout, the mean is kept to .2%).
        training: whether to drop at all.
    """
    if values.device.type != "cpu":
        return F.dropout(values, probability, training)
    if not training or not round(probability * LEVELS):
        return values
    masks = Masks(probability)
    return values * masks.draw(values.shape, values.dtype).mul_(masks.scale)


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
