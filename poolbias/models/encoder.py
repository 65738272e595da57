"""A published encoder as rankers start from it: its weights, its hidden states, its files.

The encoder is BERT's (Devlin et al. 2019), by transformers; what is here is the same for every
ranker: `bert`, `prop`, `ernie`, `cedr_knrm`, `parade_max`.
"""

import contextlib
import pickle
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from transformers import AttentionInterface, BertConfig
from transformers.masking_utils import AttentionMaskInterface, eager_mask
from transformers.utils import logging

from poolbias.errors import ConfigError, DataError
from poolbias.files import atomic_folder
from poolbias.models import dropout, packed
from poolbias.models.attention import Bucket, buckets
from poolbias.models.pretrained import WEIGHTS, check_vocabulary, folder_of
from poolbias.tokens import Ids, Sequences

# Eager attention with a dropout that is cheap on a CPU, under a name of its own.
EAGER = "poolbias_eager"
AttentionInterface.register(EAGER, dropout.attention)
AttentionMaskInterface.register(EAGER, eager_mask)
logging.disable_progress_bar()
TOKENIZER_FILES = (
    "tokenizer.json",
    "vocab.txt",
    "tokenizer_config.json",
    "special_tokens_map.json",
)


def configuration(parameters: dict[str, Any]) -> Any:
    """Return the `BertConfig` of a ranker over the published encoder `parameters["start"]`.

    Args:
        parameters: `start` (name or id of the published encoder), `layers` (how many of its lowest
            layers are kept; None: all), `dropout` (in the encoder), `head_dropout` (before the
            head), `engine` (`packed` or `plain`), `attention` (of the plain engine, `eager` or
            `sdpa`).

    Raises:
        ConfigError: if more layers are asked for than the encoder has.
        ToolError: if the encoder's files are not there.
    """
    config = BertConfig.from_pretrained(folder_of(parameters["start"]))
    layers = parameters["layers"] or config.num_hidden_layers
    if not 1 <= layers <= config.num_hidden_layers:
        raise ConfigError(
            f"layers is {layers}, need 1 to {config.num_hidden_layers} "
            f"(what {parameters['start']} has); correct it."
        )
    config.name_or_path = parameters["start"]
    config.num_hidden_layers = layers
    config.num_labels = 1
    config.hidden_dropout_prob = config.attention_probs_dropout_prob = parameters["dropout"]
    config.classifier_dropout = parameters["head_dropout"]
    config.poolbias_engine = parameters["engine"]
    config._attn_implementation = EAGER if parameters["attention"] == "eager" else "sdpa"
    return config


def fill(bert: Any, name: str) -> None:
    """Give a `BertModel` the weights of the published encoder `name`.

    Raises:
        DataError: if a weight is missing, or numbers of word pieces do not fit one another.
    """
    folder = folder_of(name)
    weights = weights_of(folder)
    missing = [weight for weight in bert.state_dict() if weight not in weights]
    if missing:
        raise DataError(
            f"{folder}: weight {missing[0]!r} is missing, need every weight of a BERT encoder; "
            "fetch the checkpoint again or name another."
        )
    rows = len(weights["embeddings.word_embeddings.weight"])
    check_vocabulary(folder, bert.config.vocab_size, rows)
    bert.load_state_dict({weight: weights[weight] for weight in bert.state_dict()})


def weights_of(folder: Path) -> dict[str, Tensor]:
    """Return an encoder's weights by `BertModel`'s names, from `model.safetensors` or PyTorch's.

    Prefixes of a model around the encoder (`bert.`, `ernie.`) and the names that LayerNorm's
    parameters had in TensorFlow (`gamma`, `beta`) are turned into today's.

    Raises:
        DataError: if the file cannot be read.
    """
    file = next(folder / name for name in WEIGHTS if (folder / name).is_file())
    try:
        if file.suffix == ".safetensors":
            found = load_file(file)
        else:
            found = torch.load(file, map_location="cpu", weights_only=True)
    except (OSError, SafetensorError, RuntimeError, pickle.UnpicklingError) as error:
        raise DataError(
            f"{file}: cannot be read ({str(error).splitlines()[0]}); fetch it again."
        ) from error
    return {_todays(name): value for name, value in found.items()}


def _todays(name: str) -> str:
    name = re.sub(r"^(bert|ernie)\.", "", name)
    name = re.sub(r"LayerNorm\.gamma$", "LayerNorm.weight", name)
    return re.sub(r"LayerNorm\.beta$", "LayerNorm.bias", name)


def states(bert: Any, sequences: Sequences, precision: str) -> Iterator[Tensor]:
    """Yield the hidden states of each token, [tokens, width]: embeddings, then each layer's.

    Args:
        bert: a `BertModel`; the fast path runs it where its config says `packed`, otherwise
            transformers' own forward does, the reference of the fast path.
        sequences: end to end.
        precision: `bf16` or `float32`, of what the encoder computes.
    """
    device = bert.embeddings.word_embeddings.weight.device
    if getattr(bert.config, "poolbias_engine", "") == "packed":
        kind = torch.bfloat16 if precision == "bf16" else torch.float32
        yield from packed.states(bert, *_inputs(sequences, device), kind)
    else:
        batch = sequences.padded()
        mask = on(device, batch.mask)
        with torch.autocast(device.type, torch.bfloat16, enabled=precision == "bf16"):
            found = bert(
                input_ids=on(device, batch.ids),
                attention_mask=mask,
                token_type_ids=on(device, batch.types),
                output_hidden_states=True,
            ).hidden_states
        yield from (state[mask.bool()] for state in found)


def on(device: torch.device, array: Ids) -> Tensor:
    """Return an array of the shape it has as a tensor on a device.

    To a GPU it is copied from pinned memory, so that the copy does not hold up what comes next.
    """
    tensor = torch.from_numpy(array)
    if device.type == "cuda":
        tensor = tensor.pin_memory()
    return tensor.to(device, non_blocking=True)


def pooled(bert: Any, sequences: Sequences, precision: str) -> Tensor:
    """Return the pooler's vector of each sequence (tanh over [CLS]), in the order they lie in."""
    device = bert.pooler.dense.weight.device
    half = precision == "bf16"
    if getattr(bert.config, "poolbias_engine", "") != "packed":
        batch = sequences.padded()
        with torch.autocast(device.type, torch.bfloat16, enabled=half):
            vectors: Tensor = bert(
                input_ids=on(device, batch.ids),
                attention_mask=on(device, batch.mask),
                token_type_ids=on(device, batch.types),
            ).pooler_output
        return vectors
    kind = torch.bfloat16 if half else torch.float32
    first = packed.first_states(bert, *_inputs(sequences, device), kind)
    return torch.tanh(packed.linear(first, bert.pooler.dense, kind))


def _inputs(
    sequences: Sequences, device: torch.device
) -> tuple[Tensor, Tensor, Tensor, list[Bucket]]:
    """Return ids, types and positions of all tokens, and buckets, as the fast path takes them."""
    arrays = (sequences.ids, sequences.types, sequences.positions())
    ids, types, positions = (on(device, array) for array in arrays)
    return ids, types, positions, buckets(sequences.lengths, device)


def save(ranker: Any, folder: Path | str) -> None:
    """Write a Hugging Face folder: config.json, model.safetensors and the tokenizer's files.

    The folder appears whole or not at all.
    """
    with atomic_folder(folder) as temporary:
        if hasattr(ranker, "save_pretrained"):
            ranker.save_pretrained(temporary)
        else:
            ranker.config.architectures = [type(ranker).__name__]
            ranker.config.save_pretrained(temporary)
            tensors = {name: value.contiguous() for name, value in ranker.state_dict().items()}
            save_file(tensors, temporary / "model.safetensors")
        source = folder_of(ranker.config.name_or_path)
        for file in TOKENIZER_FILES:
            if (source / file).is_file():
                shutil.copyfile(source / file, temporary / file)


def load(shape: type[nn.Module], folder: Path | str) -> Any:
    """Return a saved ranker of the class `shape` (made from its `BertConfig`), to be evaluated.

    Raises:
        DataError: if a file is missing or damaged, or a weight has no place.
    """
    folder = Path(folder)
    config = BertConfig.from_pretrained(folder)
    config._attn_implementation = EAGER
    ranker = shape(config)
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
