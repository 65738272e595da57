"""The encoder of a BERT model over sequences end to end: the fast path of `models.bert`.

transformers' own forward pads every sequence of a batch to the longest and runs each layer's small
operations one by one. Here the linear layers see the tokens and nothing else, queries, keys and
values are one product, dropout, residual and LayerNorm one step, and gradients of what is not
linear are taken by hand. The formulas are BERT's (Devlin et al. 2019); the tests hold scores and
gradients to those of transformers.
"""

from collections import deque
from collections.abc import Iterator
from itertools import islice
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from poolbias.models.attention import Bucket, attend, first_tokens
from poolbias.models.dropout import Masks
from poolbias.models.first_token import attend_first

Kind = torch.dtype


def first_states(
    bert: Any, ids: Tensor, types: Tensor, positions: Tensor, parts: list[Bucket], kind: Kind
) -> Tensor:
    """Return the last hidden state of each sequence's first token, [sequences, width].

    That of `states`, but for rounding; the last layer computes nothing for the other tokens.
    Arguments as of `states`.
    """
    below = islice(states(bert, ids, types, positions, parts, kind), len(bert.encoder.layer))
    (values,) = deque(below, maxlen=1)  # the last layer is not reached
    layer = bert.encoder.layer[-1]
    hidden, attention = _masks(bert)
    own = values.index_select(0, first_tokens(parts))
    mixed = attend_first(values, own, layer.attention.self, parts, attention)
    return _above_attention(layer, mixed, own, hidden, kind)


def states(
    bert: Any, ids: Tensor, types: Tensor, positions: Tensor, parts: list[Bucket], kind: Kind
) -> Iterator[Tensor]:
    """Yield the hidden states of each token, [tokens, width]: the embeddings, then each layer's.

    Args:
        bert: a `BertModel`; in training mode its dropouts drop, drawn from torch's generator.
        ids: int64 [tokens], sequences end to end.
        types: segment of each token, int64 [tokens].
        positions: place of each token in its sequence, int64 [tokens].
        parts: the buckets of the sequences.
        kind: bfloat16 or float32, of products, activations and result; sums within LayerNorm,
            softmax and products are float32 in either.
    """
    hidden, attention = _masks(bert)
    values = _embed(bert.embeddings, ids, types, positions).to(kind)
    if hidden:
        values = values * hidden.draw(values.shape, kind).mul_(hidden.scale)
    yield values
    for layer in bert.encoder.layer:
        inner = layer.attention.self
        heads = inner.num_attention_heads
        mixed = attend(_project(values, inner, heads, kind), parts, heads, attention)
        values = _above_attention(layer, mixed, values, hidden, kind)
        yield values


def _masks(bert: Any) -> tuple[Masks, Masks]:
    """Return the dropouts of hidden states and of attention, off outside training."""
    config = bert.config
    probabilities = (config.hidden_dropout_prob, config.attention_probs_dropout_prob)
    hidden, attention = (Masks(p if bert.training else 0.0) for p in probabilities)
    return hidden, attention


def _above_attention(layer: Any, mixed: Tensor, old: Tensor, hidden: Masks, kind: Kind) -> Tensor:
    """Return a layer's states, [n, width], from its attention's result and the states below it."""
    output = layer.attention.output
    values = add(linear(mixed, output.dense, kind), old, output.LayerNorm, hidden)
    wide = F.gelu(linear(values, layer.intermediate.dense, kind))
    return add(linear(wide, layer.output.dense, kind), values, layer.output.LayerNorm, hidden)


def linear(values: Tensor, layer: nn.Linear, kind: Kind) -> Tensor:
    """Return a linear layer's result in the precision `kind`; its weights stay float32."""
    return F.linear(values, layer.weight.to(kind), layer.bias.to(kind))


def _embed(embeddings: Any, ids: Tensor, types: Tensor, positions: Tensor) -> Tensor:
    total = (
        F.embedding(ids, embeddings.word_embeddings.weight)
        + F.embedding(types, embeddings.token_type_embeddings.weight)
        + F.embedding(positions, embeddings.position_embeddings.weight)
    )
    norm = embeddings.LayerNorm
    return F.layer_norm(total, norm.normalized_shape, norm.weight, norm.bias, norm.eps)


def _project(values: Tensor, inner: Any, heads: int, kind: Kind) -> Tensor:
    """Return scaled queries, keys and values in one product, [tokens, 3 · width]."""
    scale = (inner.query.out_features / heads) ** -0.5
    weights, biases = (
        tuple(getattr(layer, name) for layer in (inner.query, inner.key, inner.value))
        for name in ("weight", "bias")
    )
    return F.linear(values, _joined(weights, scale, kind), _joined(biases, scale, kind))


def _joined(parameters: tuple[Tensor, ...], scale: float, kind: Kind) -> Tensor:
    """Return the parameters of queries, scaled, of keys and of values, one below the other."""
    query, key, value = parameters
    return torch.cat([query * scale, key, value]).to(kind)


def add(new: Tensor, old: Tensor, norm: nn.LayerNorm, masks: Masks) -> Tensor:
    """Return LayerNorm(dropout(new) + old), all [tokens, width]."""
    result: Tensor = _DropAddNorm.apply(  # type: ignore[no-untyped-call]
        new, old, norm.weight, norm.bias, norm.eps, masks
    )
    return result


class _DropAddNorm(torch.autograd.Function):
    """Dropout, residual and LayerNorm; keeps their sum and the mask, and no other copy."""

    @staticmethod
    def forward(
        ctx: Any, new: Tensor, old: Tensor, weight: Tensor, bias: Tensor, eps: float, masks: Masks
    ) -> Tensor:
        mask = new.new_empty(0)
        if masks:
            mask = masks.draw(new.shape, new.dtype).mul_(masks.scale)
            total = torch.addcmul(old, new, mask)
        else:
            total = old + new
        shape = (total.shape[-1],)
        result, mean, deviation = torch.native_layer_norm(total, shape, weight, bias, eps)
        ctx.save_for_backward(total, mean, deviation, weight, bias, mask)
        ctx.dropped = bool(masks)
        return result

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, None, None]:
        total, mean, deviation, weight, bias, mask = ctx.saved_tensors
        by_total, by_weight, by_bias = torch.ops.aten.native_layer_norm_backward(
            gradient, total, (total.shape[-1],), mean, deviation, weight, bias, [True] * 3
        )
        by_new = by_total * mask if ctx.dropped else by_total
        return by_new, by_total, by_weight, by_bias, None, None
