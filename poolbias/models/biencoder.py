"""Bi-encoders: a text becomes a vector, and a query and a document meet in an inner product.

The published architectures differ in a few choices only (`ARCHITECTURES`), so they are one class.
"""

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional as F

from poolbias.errors import ConfigError
from poolbias.models import packed
from poolbias.models.attention import buckets
from poolbias.models.layout import pretrained_network
from poolbias.tokens import Sequences

Role = Literal["query", "document"]
ROLES: tuple[Role, ...] = ("query", "document")


@dataclass(frozen=True)
class Architecture:
    """What makes a published bi-encoder.

    Attributes:
        pooling: `mean` over all tokens, [CLS] and [SEP] included, or the `first` token.
        head: whether a linear layer and a LayerNorm follow.
        segments: segment ids of queries and of documents.
        unit: whether vectors are divided by their length.
        twin: whether queries and documents have encoders of their own.
    """

    pooling: Literal["mean", "first"]
    head: bool = False
    segments: tuple[int, int] = (0, 0)
    unit: bool = False
    twin: bool = False


ARCHITECTURES = {
    # jingtaozhan/RepBERT-Index: mean over all valid tokens, segment 0 for queries, 1 for documents
    "repbert": Architecture("mean", segments=(0, 1)),
    # microsoft/ANCE and jingtaozhan/DRhard: first token, linear, LayerNorm
    "ance": Architecture("first", head=True),
    "star": Architecture("first", head=True),
    # ADORE trains the query's side over documents that stay: from then on two encoders
    "adore": Architecture("first", head=True, twin=True),
    # PaddlePaddle/RocketQA: [CLS], two encoders
    "dual_encoder": Architecture("first", twin=True),
    # sentence-transformers' all-MiniLM-L6-v2
    "minilm": Architecture("mean", unit=True),
}


class Tower(nn.Module):
    """One encoder with its head, under the names that the published ANCE files have."""

    def __init__(self, network: Any, head: bool) -> None:
        super().__init__()
        self.kind = network.config.model_type  # `bert` or `roberta`
        self.add_module(self.kind, network)
        width = network.config.hidden_size
        if head:
            self.embeddingHead = nn.Linear(width, width)
            self.norm = nn.LayerNorm(width)
            with torch.no_grad():  # leaves the encoder's vectors as they are, but for the norm
                self.embeddingHead.weight.copy_(torch.eye(width))
                self.embeddingHead.bias.zero_()

    @property
    def network(self) -> Any:
        """Return the encoder."""
        return getattr(self, self.kind)


class BiEncoder(nn.Module):
    """A bi-encoder of one of the architectures.

    Args:
        name: of the architecture.
        towers: one encoder, or two for a twin: of queries and of documents.
        tokenizer: of both.
        limits: most word pieces of a query and of a document, special tokens included.
    """

    def __init__(
        self, name: str, towers: Sequence[Tower], tokenizer: Tokenizer, limits: tuple[int, int]
    ) -> None:
        super().__init__()
        self.name, self.architecture = name, ARCHITECTURES[name]
        if self.architecture.twin:
            self.query, self.document = towers
        else:
            (self.both,) = towers
        self.tokenizer, self.limits = tokenizer, limits
        self.lower_case = False  # before they become word pieces; only published files need it
        # the fast path knows BERT's own activation
        gelu = towers[0].network.config.hidden_act == "gelu"
        self.engine: Literal["packed", "plain"] = "packed" if gelu else "plain"

    @property
    def dimension(self) -> int:
        """Return the size of a vector."""
        return int(self.tower("query").network.config.hidden_size)

    @property
    def device(self) -> torch.device:
        """Return where the model is."""
        return next(self.parameters()).device

    def tower(self, role: Role) -> Tower:
        """Return the encoder of queries or of documents."""
        tower: Tower = getattr(self, role) if self.architecture.twin else self.both
        return tower

    def tokenize(self, texts: Sequence[str], role: Role) -> list[list[int]]:
        """Return the word pieces of each text with their special tokens, cut at the limit."""
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(self.limits[ROLES.index(role)])
        given = [text.lower() for text in texts] if self.lower_case else list(texts)
        return [encoding.ids for encoding in self.tokenizer.encode_batch(given)]

    def sequences(self, tokens: Sequence[Sequence[int]], role: Role) -> Sequences:
        """Return texts as one array, the longest first; `vectors` takes it."""
        lengths = np.array([len(ids) for ids in tokens], np.int64)
        rows = np.argsort(-lengths, kind="stable")
        ids = np.concatenate([np.asarray(tokens[row], np.int64) for row in rows])
        segment = self.architecture.segments[ROLES.index(role)]
        types = np.full(len(ids), segment, np.int64)
        pad = self.tower(role).network.config.pad_token_id or 0
        return Sequences(ids, types, lengths[rows], rows, pad)

    def vectors(self, sequences: Sequences, role: Role, half: bool = False) -> Tensor:
        """Return the vectors of texts, float32 [texts, dimension], in their order.

        Args:
            sequences: of texts of one role.
            role: whose encoder takes them.
            half: whether the encoder multiplies in bfloat16; pooling and head are float32.
        """
        tower = self.tower(role)
        encode = self._packed if self.engine == "packed" else self._plain
        pooled = encode(tower.network, sequences, half).float()
        if self.architecture.head:
            pooled = tower.norm(tower.embeddingHead(pooled))
        if self.architecture.unit:
            pooled = F.normalize(pooled, dim=1)
        rows = torch.from_numpy(sequences.rows).to(pooled.device)
        return torch.empty_like(pooled).index_put((rows,), pooled)

    def _packed(self, network: Any, sequences: Sequences, half: bool) -> Tensor:
        """Return the pooled vectors by the fast path, longest text first."""
        kind = torch.bfloat16 if half else torch.float32
        places = sequences.positions() + first_position(network)
        arrays = (sequences.ids, sequences.types, places)
        ids, types, positions = (torch.from_numpy(array).to(self.device) for array in arrays)
        parts = buckets(sequences.lengths, self.device)
        if self.architecture.pooling == "first":
            return packed.first_states(network, ids, types, positions, parts, kind)
        *_, last = packed.states(network, ids, types, positions, parts, kind)
        text = np.repeat(np.arange(len(sequences)), sequences.lengths)
        sums = last.new_zeros((len(sequences), last.shape[1]), dtype=torch.float32)
        sums = sums.index_add(0, torch.from_numpy(text).to(self.device), last.float())
        return sums / torch.from_numpy(sequences.lengths).to(self.device)[:, None]

    def _plain(self, network: Any, sequences: Sequences, half: bool) -> Tensor:
        """Return the same by transformers' own forward, the reference of the fast path."""
        batch = sequences.padded()
        ids, mask, types = (
            torch.from_numpy(array).to(self.device)
            for array in (batch.ids, batch.mask, batch.types)
        )
        with torch.autocast(self.device.type, torch.bfloat16, enabled=half):
            hidden: Tensor = network(
                input_ids=ids, attention_mask=mask, token_type_ids=types
            ).last_hidden_state.float()
        if self.architecture.pooling == "first":
            return hidden[:, 0]
        return (hidden * mask[:, :, None]).sum(dim=1) / mask.sum(dim=1, keepdim=True)


def first_position(network: Any) -> int:
    """Return the position of a text's first token: RoBERTa's follow the padding's."""
    return int(network.config.pad_token_id) + 1 if network.config.model_type == "roberta" else 0


def start(name: str, folder: Path, layers: int, limits: tuple[int, int]) -> BiEncoder:
    """Return a bi-encoder whose encoder starts from published weights.

    A head begins as the identity, so that training starts from the encoder's own vectors: our
    choice, since papers start from a warm-up that is not at hand.

    Args:
        name: of the architecture.
        folder: with `config.json`, `model.safetensors` and `tokenizer.json`.
        layers: how many of the encoder's lowest layers are kept.
        limits: most word pieces of a query and of a document.

    Raises:
        ConfigError: for an architecture that is not known, or more layers than there are.
        DataError: if a weight is missing.
    """
    if name not in ARCHITECTURES:
        raise ConfigError(f"architecture is {name!r}, need one of {', '.join(ARCHITECTURES)}.")
    architecture = ARCHITECTURES[name]
    towers = [
        Tower(pretrained_network(folder, layers), architecture.head)
        for _ in range(2 if architecture.twin else 1)
    ]
    return BiEncoder(name, towers, Tokenizer.from_file(str(folder / "tokenizer.json")), limits)


def turned_into(model: BiEncoder, name: str) -> BiEncoder:
    """Return a bi-encoder of another architecture that starts from the encoders of `model`.

    Two encoders both start from a single one. A head that the other lacks begins as the identity;
    one that it has and this architecture lacks is left behind.

    Raises:
        ConfigError: if two encoders would have to become one.
    """
    architecture = ARCHITECTURES[name]
    if model.architecture.twin and not architecture.twin:
        raise ConfigError(
            f"start is a {model.name} with two encoders, need one encoder for a {name}; start "
            "from another retriever."
        )
    towers = []
    for role in ROLES if architecture.twin else ROLES[:1]:
        tower = copy.deepcopy(model.tower(role))
        if architecture.head != model.architecture.head:
            tower = Tower(tower.network, architecture.head)
        towers.append(tower)
    return BiEncoder(name, towers, model.tokenizer, model.limits)
