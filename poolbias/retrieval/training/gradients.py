"""The gradient of a loss of vectors, at once or text chunk by text chunk (GradCache)."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from poolbias.models.biencoder import BiEncoder, Role

Tokens = Sequence[Sequence[int]]
Loss = Callable[[Tensor, Tensor], Tensor]


def backward(
    model: BiEncoder,
    texts: tuple[Tokens, Tokens],
    loss: Loss,
    half: bool,
    chunk: int | None = None,
) -> float:
    """Add the gradient of a loss to the parameters' and return the loss.

    With a chunk, vectors are made without gradient first, the loss gives their gradients, and each
    chunk is encoded again to pass its part on (Gao et al. 2021, GradCache): the memory is that of a
    chunk, the gradient the same but for rounding. Encoders have no dropout, so that both encodings
    agree.

    Args:
        model: the bi-encoder.
        texts: token ids of the queries and of the documents.
        loss: of vectors, float32 [queries, dimension] and [documents, dimension]; one number.
        half: whether the encoder multiplies in bfloat16.
        chunk: texts that are encoded at a time; None is all.
    """
    queries, documents = texts
    if chunk is None:
        value = loss(
            _encode(model, queries, "query", half), _encode(model, documents, "document", half)
        )
        value.backward()  # type: ignore[no-untyped-call]
        return float(value.detach())
    sides: list[tuple[Tokens, Role]] = [(queries, "query"), (documents, "document")]
    parts = [
        (given[start : start + chunk], role)
        for given, role in sides
        for start in range(0, len(given), chunk)
    ]
    with torch.no_grad():
        found = [_encode(model, part, role, half) for part, role in parts]
    vectors = torch.cat(found).requires_grad_()
    value = loss(vectors[: len(queries)], vectors[len(queries) :])
    value.backward()  # type: ignore[no-untyped-call]
    assert vectors.grad is not None
    first = 0
    for part, role in parts:
        last = first + len(part)
        gradient = vectors.grad[first:last]
        _encode(model, part, role, half).backward(gradient)  # type: ignore[no-untyped-call]
        first = last
    return float(value.detach())


def _encode(model: BiEncoder, tokens: Tokens, role: Role, half: bool) -> Tensor:
    return model.vectors(model.sequences(tokens, role), role, half)
