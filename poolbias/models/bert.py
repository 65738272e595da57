"""The ranker `bert`: a cross-encoder with one logit (Cai et al. 2022, Eq. 14).

The encoder's pooler (a tanh layer over [CLS]), dropout, one linear unit: the paper's "MLP" as the
authors' released code has it (modeling.py of caiyinqiong/Coupled_Estimation_Technique).
"""

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor
from transformers import AttentionInterface, BertConfig, BertForSequenceClassification
from transformers.masking_utils import AttentionMaskInterface, eager_mask
from transformers.utils import logging

from poolbias.errors import ConfigError, DataError
from poolbias.files import atomic_folder
from poolbias.models import dropout, packed
from poolbias.models.attention import buckets
from poolbias.models.pretrained import folder_of
from poolbias.tokens import Sequences

# Eager attention with a dropout that is cheap on a CPU, under a name of its own.
EAGER = "poolbias_eager"
AttentionInterface.register(EAGER, dropout.attention)
AttentionMaskInterface.register(EAGER, eager_mask)
logging.disable_progress_bar()
TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json")


def start(parameters: dict[str, Any], seed: int) -> Any:
    """Return a ranker that starts from published weights, its head drawn at random.

    Args:
        parameters: `start` (name of the published encoder), `layers` (how many of its lowest
            layers are kept), `dropout` (in the encoder), `head_dropout` (before the head),
            `engine` (`packed` or `plain`), `attention` (of the plain engine, `eager` or `sdpa`).
        seed: of the head, drawn from Normal(0, 0.02); different models take different seeds.

    Raises:
        ConfigError: if more layers are asked for than the encoder has.
        DataError: if a weight is missing from the published file.
    """
    folder = folder_of(parameters["start"])
    config = BertConfig.from_pretrained(folder)
    if not 1 <= parameters["layers"] <= config.num_hidden_layers:
        raise ConfigError(
            f"layers is {parameters['layers']}, need 1 to {config.num_hidden_layers} "
            f"(what {parameters['start']} has); correct it."
        )
    config.name_or_path = parameters["start"]
    config.num_hidden_layers = parameters["layers"]
    config.num_labels = 1
    config.hidden_dropout_prob = config.attention_probs_dropout_prob = parameters["dropout"]
    config.classifier_dropout = parameters["head_dropout"]
    config.poolbias_engine = parameters["engine"]
    config._attn_implementation = EAGER if parameters["attention"] == "eager" else "sdpa"
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        ranker = BertForSequenceClassification(config)
        ranker.classifier.weight.data.normal_(std=0.02)
    dropout.replace(ranker)
    weights = load_file(folder / "model.safetensors")
    missing = [name for name in ranker.bert.state_dict() if name not in weights]
    if missing:
        raise DataError(f"{folder}/model.safetensors: weight {missing[0]!r} is missing.")
    ranker.bert.load_state_dict({name: weights[name] for name in ranker.bert.state_dict()})
    return ranker


def scores(ranker: Any, sequences: Sequences, precision: str) -> Tensor:
    """Return the score of each pair, float32 [pairs], in the order of the pairs.

    The encoder runs in bfloat16 if `precision` is `bf16`; the last dropout and linear layer run in
    float32, outside autocast, so that scores never tie for want of digits.
    """
    device = ranker.classifier.weight.device
    encode = _packed if getattr(ranker.config, "poolbias_engine", "") == "packed" else _plain
    pooled = encode(ranker.bert, sequences, device, precision == "bf16")
    logits = ranker.classifier(ranker.dropout(pooled.float()))[:, 0]
    result: Tensor = logits.new_empty(len(sequences))
    return result.index_put((torch.from_numpy(sequences.rows).to(device),), logits)


def _packed(bert: Any, sequences: Sequences, device: torch.device, half: bool) -> Tensor:
    """Return the pooled vectors by the fast path, in the order of `sequences`."""
    kind = torch.bfloat16 if half else torch.float32
    arrays = (sequences.ids, sequences.types, sequences.positions())
    ids, types, positions = (torch.from_numpy(array).to(device) for array in arrays)
    parts = buckets(sequences.lengths, device)
    first = packed.first_states(bert, ids, types, positions, parts, kind)
    return torch.tanh(packed.linear(first, bert.pooler.dense, kind))


def _plain(bert: Any, sequences: Sequences, device: torch.device, half: bool) -> Tensor:
    """Return the pooled vectors by transformers' own forward, the reference of the fast path."""
    batch = sequences.padded()
    with torch.autocast(device.type, torch.bfloat16, enabled=half):
        pooled: Tensor = bert(
            input_ids=torch.from_numpy(batch.ids).to(device),
            attention_mask=torch.from_numpy(batch.mask).to(device),
            token_type_ids=torch.from_numpy(batch.types).to(device),
        ).pooler_output
    return pooled


def save(ranker: Any, folder: Path | str) -> None:
    """Write a Hugging Face folder: config.json, model.safetensors and the tokenizer's files.

    `AutoModelForSequenceClassification` and `sentence_transformers.CrossEncoder` load it. The
    folder appears whole or not at all.
    """
    with atomic_folder(folder) as temporary:
        ranker.save_pretrained(temporary)
        source = folder_of(ranker.config.name_or_path)
        for file in TOKENIZER_FILES:
            shutil.copyfile(source / file, temporary / file)


def load(folder: Path | str) -> Any:
    """Load a saved ranker in evaluation mode.

    Raises:
        DataError: if a file is missing or damaged, or a weight has no place.
    """
    folder = Path(folder)
    config = BertConfig.from_pretrained(folder)
    config._attn_implementation = EAGER
    ranker = BertForSequenceClassification(config)
    with _told(folder):
        ranker.load_state_dict(load_file(folder / "model.safetensors"))
    return ranker.eval()


@contextlib.contextmanager
def _told(folder: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, SafetensorError, RuntimeError) as error:
        reason = str(error).splitlines()[0]
        raise DataError(
            f"{folder}/model.safetensors: cannot be read ({reason}); delete it and train again."
        ) from error
