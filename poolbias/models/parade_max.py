"""The ranker `parade_max`: the elementwise maximum over a document's parts (Li et al. 2020).

As in canjiali/PARADE (generate_data.py `get_passages`, parade.py `reduced_by_max`): a document is
cut into overlapping parts, each goes through the encoder with the query, and the pooler's vectors
are reduced by their maximum; places without a part get -10000. Dropout and one linear unit follow.

Our choices: lengths are in word pieces, not in words, since the token store holds no words; the
linear unit has one logit, not two; the parts that are drawn where a document has too many follow
from its word pieces, so that training and ranking, R and S, see the same ones.
"""

import zlib
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from transformers import BertModel

from poolbias.models import dropout, encoder
from poolbias.models.encoder import save
from poolbias.models.parts import take_apart
from poolbias.tokens import Ids, Sequences

__all__ = ["ParadeMax", "load", "save", "scores", "start"]

MISSING = -10000.0  # of a place without a part, below every value of a tanh
DRAWS = 118  # keys the draw of a long document's parts; the number is generate_data.py's


class ParadeMax(nn.Module):
    """The encoder with its pooler, dropout and the linear unit."""

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.config = config
        self.bert = BertModel(config)
        self.dropout = nn.Dropout(config.classifier_dropout)
        self.classifier = nn.Linear(config.hidden_size, 1)


def start(parameters: dict[str, Any], seed: int) -> ParadeMax:
    """Return a ranker that starts from published weights, its head drawn at random.

    Args:
        parameters: as `encoder.configuration` takes them; `part_tokens` (longest part),
            `stride_tokens` (from the start of one to that of the next), `most_parts`.
        seed: of the head, drawn from Normal(0, 0.02).

    Raises:
        ConfigError, DataError, ToolError: as `bert.start`.
    """
    config = encoder.configuration(parameters)
    config.poolbias_parts = [
        parameters[name] for name in ("part_tokens", "stride_tokens", "most_parts")
    ]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        ranker = ParadeMax(config)
        ranker.classifier.weight.data.normal_(std=0.02)
        ranker.classifier.bias.data.zero_()
    dropout.replace(ranker)
    encoder.fill(ranker.bert, parameters["start"])
    return ranker


def scores(ranker: ParadeMax, sequences: Sequences, precision: str) -> Tensor:
    """Return the score of each pair, float32 [pairs], in the order of the pairs.

    The encoder runs in bfloat16 if `precision` is `bf16`, all after it in float32.
    """
    size, stride, most = ranker.config.poolbias_parts
    parts = take_apart(sequences, lambda ids, _: choose(split(ids, size, stride), ids, most))
    vectors = encoder.pooled(ranker.bert, parts.sequences, precision).float()
    places = np.empty_like(parts.sequences.rows)
    places[parts.sequences.rows] = np.arange(len(places))  # where each part's vector is
    table, filled = parts.grid([places[one] for one in parts.parts_of_pairs()])
    largest = maximum(
        vectors[torch.from_numpy(table).to(vectors.device)],
        torch.from_numpy(filled).to(vectors.device),
    )
    result: Tensor = ranker.classifier(ranker.dropout(largest))[:, 0]
    return result


def maximum(vectors: Tensor, filled: Tensor) -> Tensor:
    """Return the elementwise maximum over parts, [pairs, width].

    Args:
        vectors: [pairs, parts, width].
        filled: 1 where there is a part, 0 elsewhere, [pairs, parts].
    """
    return vectors.masked_fill(filled[..., None] == 0, MISSING).amax(1)


def split(ids: Ids, size: int, stride: int) -> list[Ids]:
    """Return overlapping parts of a document, one at every `stride` pieces.

    The first is always there; a last one that the part before it holds whole is not.
    """
    parts = [ids[:size]]
    for first in range(stride, len(ids), stride):
        if len(ids) - first <= size - stride:
            break
        parts.append(ids[first : first + size])
    return parts


def choose(parts: list[Ids], ids: Ids, most: int) -> list[Ids]:
    """Return at most `most` parts: the first, the last, and a draw of those between, in order.

    Args:
        parts: all parts of a document.
        ids: its word pieces, which key the draw.
        most: 2 or more.
    """
    if len(parts) <= most:
        return parts
    key = zlib.crc32(np.ascontiguousarray(ids, dtype="<i8").tobytes())
    generator = np.random.default_rng([DRAWS, key])
    middle = generator.choice(np.arange(1, len(parts) - 1), most - 2, replace=False)
    return [parts[number] for number in (0, *sorted(middle), len(parts) - 1)]


def load(folder: Path | str) -> Any:
    """Load a saved ranker in evaluation mode.

    Raises:
        DataError: if a file is missing or damaged, or a weight has no place.
    """
    return encoder.load(ParadeMax, folder)
