"""Attention over sequences that lie end to end: only here, and only within buckets, is padding.

Sequences come longest first, so a bucket is a run of sequences of nearly the same length. Each
bucket is padded to its longest sequence, attended in one batch, and cut back to its tokens.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from poolbias.models.dropout import Masks

# A sequence shorter than this share of its bucket's longest opens the next bucket (our choice: a
# smaller share pads more, a larger one makes more and smaller products).
LEAST_SHARE = 0.8
_HIDDEN = -1e9  # added to the scores of padding


@dataclass(frozen=True)
class Bucket:
    """Sequences padded together.

    Attributes:
        first: its first token, of all tokens.
        last: the one after its last token.
        sequences: how many it holds.
        length: of its longest.
        source: int64 [sequences · length], the token of the bucket at each padded place (any
            token where there is padding).
        places: int64 [last − first], the padded place of each token.
        hidden: bfloat16 [sequences, 1, 1, length], added to scores; None if nothing is padded.
    """

    first: int
    last: int
    sequences: int
    length: int
    source: Tensor
    places: Tensor
    hidden: Tensor | None


def buckets(lengths: NDArray[np.int64], device: torch.device) -> list[Bucket]:
    """Return the buckets of sequences whose lengths, int64 [sequences], never rise."""
    starts = np.concatenate([[0], np.cumsum(lengths)])
    found = []
    begin = 0
    while begin < len(lengths):
        end = begin + int(np.sum(lengths[begin:] >= LEAST_SHARE * lengths[begin]))
        found.append(_bucket(lengths[begin:end], int(starts[begin]), device))
        begin = end
    return found


def _bucket(lengths: NDArray[np.int64], first: int, device: torch.device) -> Bucket:
    longest = int(lengths[0])
    column = np.arange(longest)
    real = column < lengths[:, None]
    starts = np.cumsum(lengths) - lengths
    source = np.where(real, starts[:, None] + column, 0)
    hidden = None
    if not real.all():
        hidden = torch.from_numpy(np.where(real, 0.0, _HIDDEN)).to(device, torch.bfloat16)
        hidden = hidden[:, None, None, :]
    return Bucket(
        first=first,
        last=first + int(lengths.sum()),
        sequences=len(lengths),
        length=longest,
        source=torch.from_numpy(source.ravel()).to(device),
        places=torch.from_numpy(np.flatnonzero(real)).to(device),
        hidden=hidden,
    )


def attend(projected: Tensor, parts: list[Bucket], heads: int, masks: Masks) -> Tensor:
    """Return self-attention (Vaswani et al. 2017) of each sequence within itself.

    Args:
        projected: queries (already scaled by 1 / √size), keys and values side by side,
            [tokens, 3 · heads · size].
        parts: the sequences' buckets.
        heads: number of heads.
        masks: dropout of the attention's probabilities.

    Returns:
        [tokens, heads · size], of the same precision.
    """
    result: Tensor = _Attention.apply(projected, parts, heads, masks)  # type: ignore[no-untyped-call]
    return result


class _Attention(torch.autograd.Function):
    """The attention and its gradient by hand: autograd would scatter through every padding."""

    @staticmethod
    def forward(
        ctx: Any, projected: Tensor, parts: list[Bucket], heads: int, masks: Masks
    ) -> Tensor:
        tokens, width = projected.shape[0], projected.shape[1] // 3
        result = projected.new_empty(tokens, width)
        saved: list[Tensor] = []
        for part in parts:
            query, key, value = _split(projected, part, heads)
            scores = torch.bmm(query, key.transpose(1, 2))
            if part.hidden is not None:
                by_head = scores.view(part.sequences, heads, part.length, part.length)
                by_head.add_(part.hidden.to(scores.dtype))
            # through float32: torch's softmax in bfloat16 takes twice as long at odd lengths
            probability = torch.softmax(scores, -1, dtype=wide(scores.dtype)).to(scores.dtype)
            mask = probability.new_empty(0)
            kept = probability
            if masks:
                mask = masks.draw(probability.shape, probability.dtype).mul_(masks.scale)
                kept = probability * mask
            mixed = torch.bmm(kept, value).view(part.sequences, heads, part.length, -1)
            flat = mixed.transpose(1, 2).reshape(part.sequences * part.length, width)
            cut(flat, part, result)
            saved += [query, key, value, probability, mask]
        ctx.save_for_backward(*saved)
        ctx.parts, ctx.heads, ctx.dropped = parts, heads, bool(masks)
        return result

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None, None]:
        heads = ctx.heads
        tokens, width = gradient.shape
        result = gradient.new_empty(tokens, 3 * width)
        for number, part in enumerate(ctx.parts):
            query, key, value, probability, mask = ctx.saved_tensors[5 * number : 5 * number + 5]
            size = width // heads
            above = gradient.new_zeros(part.sequences * part.length, width)
            above.index_copy_(0, part.places, gradient[part.first : part.last])
            mixed = above.view(part.sequences, part.length, heads, size).transpose(1, 2)
            mixed = mixed.reshape(part.sequences * heads, part.length, size)
            kept = probability
            by_probability = torch.bmm(mixed, value.transpose(1, 2))
            if ctx.dropped:
                kept = probability * mask
                by_probability.mul_(mask)
            # of a softmax: p · (g − Σ g · p)
            by_score = torch._softmax_backward_data(
                by_probability, probability, -1, probability.dtype
            )
            parts = gradient.new_empty(3, part.sequences * heads, part.length, size)
            torch.bmm(by_score, key, out=parts[0])
            torch.bmm(by_score.transpose(1, 2), query, out=parts[1])
            torch.bmm(kept.transpose(1, 2), mixed, out=parts[2])
            by_place = parts.view(3, part.sequences, heads, part.length, size)
            flat = by_place.permute(1, 3, 0, 2, 4).reshape(-1, 3 * width)
            cut(flat, part, result)
        return result, None, None, None


def _split(projected: Tensor, part: Bucket, heads: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return queries, keys and values of a bucket, [sequences · heads, length, size] each."""
    rows = padded(projected, part)
    by_head = rows.view(part.sequences, part.length, 3, heads, -1).permute(2, 0, 3, 1, 4)
    query, key, value = by_head.reshape(3, part.sequences * heads, part.length, -1).unbind(0)
    return query, key, value


def padded(values: Tensor, part: Bucket) -> Tensor:
    """Return the tokens of a bucket, [sequences, length, width], of all, [tokens, width]."""
    rows = values[part.first : part.last]
    if part.hidden is not None:
        rows = rows.index_select(0, part.source)
    return rows.view(part.sequences, part.length, -1)


def first_tokens(parts: list[Bucket]) -> Tensor:
    """Return the place of each sequence's first token among all tokens, int64 [sequences]."""
    return torch.cat([p.source.view(p.sequences, -1)[:, 0] + p.first for p in parts])


def cut(flat: Tensor, part: Bucket, result: Tensor) -> None:
    """Write the tokens of a padded bucket, [sequences · length, width], to their rows."""
    rows = result[part.first : part.last]
    if part.hidden is None:
        rows.copy_(flat)
    else:
        torch.index_select(flat, 0, part.places, out=rows)


def wide(kind: torch.dtype) -> torch.dtype:
    """Return the precision of sums and softmaxes over values of a precision."""
    return torch.float32 if kind == torch.bfloat16 else kind
