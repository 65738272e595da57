"""Attention of the last layer for the first token of each sequence: all that a head on [CLS] reads.

The result is that of the whole layer. What is saved: the layer's products for all other tokens, its
keys and values among them. With weights W, biases b and states x, a score is
q · (W_k x + b_k) = (q W_k) · x + q · b_k, and what is attended to is
Σ p (W_v x + b_v) = W_v Σ p x + b_v Σ p, so that both need one product per sequence, none per token.
"""

from typing import Any

import torch
from torch import Tensor

from poolbias.models.attention import Bucket, cut, padded, wide
from poolbias.models.dropout import Masks


def attend_first(
    states: Tensor, own: Tensor, inner: Any, parts: list[Bucket], masks: Masks
) -> Tensor:
    """Return the self-attention of each sequence's first token.

    Args:
        states: hidden states below the layer, [tokens, width].
        own: those of the first tokens, [sequences, width].
        inner: the layer's `BertSelfAttention`.
        parts: the sequences' buckets.
        masks: dropout of the attention's probabilities.

    Returns:
        [sequences, width], of the same precision.
    """
    kind, heads = states.dtype, inner.num_attention_heads
    sequences, width = own.shape
    size = width // heads

    def split(parameter: Tensor) -> Tensor:  # by head: [heads, size, width] or [heads, 1, size]
        rows = parameter.to(kind)
        return rows.view(heads, size, width) if rows.dim() == 2 else rows.view(heads, 1, size)

    by_head = own.unsqueeze(0).expand(heads, -1, -1)
    query = torch.bmm(by_head, split(inner.query.weight * size**-0.5).transpose(1, 2))
    query = query + split(inner.query.bias * size**-0.5)
    keyed = torch.bmm(query, split(inner.key.weight)).transpose(0, 1)
    offset = (query * split(inner.key.bias)).sum(-1).t()
    mixed, total = _Mix.apply(states, keyed, offset, parts, masks)  # type: ignore[no-untyped-call]
    value = torch.bmm(mixed.transpose(0, 1), split(inner.value.weight).transpose(1, 2))
    value = value + total.t().unsqueeze(-1) * split(inner.value.bias)
    result: Tensor = value.transpose(0, 1).reshape(sequences, width)
    return result


class _Mix(torch.autograd.Function):
    """Σ p x and Σ p over each sequence, p the softmax of keyed · x + offset after dropout.

    [sequences, heads, width] and [sequences, heads].
    """

    @staticmethod
    def forward(
        ctx: Any, states: Tensor, keyed: Tensor, offset: Tensor, parts: list[Bucket], masks: Masks
    ) -> tuple[Tensor, Tensor]:
        mixed, total = torch.empty_like(keyed), torch.empty_like(offset)
        saved: list[Tensor] = []
        first = 0
        for part in parts:
            rows = slice(first, first + part.sequences)
            first = rows.stop
            tokens = padded(states, part)
            scores = torch.bmm(keyed[rows], tokens.transpose(1, 2)).add_(offset[rows, :, None])
            if part.hidden is not None:
                scores.add_(part.hidden[:, 0].to(scores.dtype))
            probability = torch.softmax(scores, -1, dtype=wide(scores.dtype)).to(scores.dtype)
            kept, mask = probability, probability.new_empty(0)
            if masks:
                mask = masks.draw(probability.shape, probability.dtype).mul_(masks.scale)
                kept = probability * mask
            mixed[rows] = torch.bmm(kept, tokens)
            total[rows] = kept.sum(-1)
            saved += [tokens, probability, mask]
        ctx.save_for_backward(keyed, *saved)
        ctx.parts, ctx.dropped, ctx.shape = parts, bool(masks), states.shape
        return mixed, total

    @staticmethod
    def backward(
        ctx: Any, by_mixed: Tensor, by_total: Tensor
    ) -> tuple[Tensor, Tensor, Tensor, None, None]:
        keyed, *saved = ctx.saved_tensors
        by_keyed, by_offset = torch.empty_like(keyed), by_total.new_empty(by_total.shape)
        by_states = keyed.new_empty(ctx.shape)
        first = 0
        for number, part in enumerate(ctx.parts):
            rows = slice(first, first + part.sequences)
            first = rows.stop
            tokens, probability, mask = saved[3 * number : 3 * number + 3]
            above = by_mixed[rows]
            kept = probability
            by_kept = torch.bmm(above, tokens.transpose(1, 2)).add_(by_total[rows, :, None])
            if ctx.dropped:
                kept = probability * mask
                by_kept.mul_(mask)
            # of a softmax: p · (g − Σ g · p)
            by_score = torch._softmax_backward_data(by_kept, probability, -1, probability.dtype)
            by_keyed[rows] = torch.bmm(by_score, tokens)
            by_offset[rows] = by_score.sum(-1)
            by_tokens = torch.bmm(by_score.transpose(1, 2), keyed[rows])
            by_tokens.baddbmm_(kept.transpose(1, 2), above)
            cut(by_tokens.flatten(0, 1), part, by_states)
        return by_states, by_keyed, by_offset, None, None
