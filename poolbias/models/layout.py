"""Weights of encoders from files: ours, and the layouts that published files have."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from transformers import AutoConfig, BertConfig, BertModel, RobertaConfig, RobertaModel

from poolbias.errors import ConfigError, DataError

NETWORKS = {"bert": (BertConfig, BertModel), "roberta": (RobertaConfig, RobertaModel)}
# Prefixes under which published files keep a tower, by what a tower's own names begin with: ANCE's
# files have either of the first two (facts of the checkpoints on Hugging Face; not tried on the
# real files), the DPR kind that AR2 writes the others (not tried on the real files).
PREFIXES = {
    "both": ("", "ance_encoder.", "module.", "module.ance_encoder."),
    "query": ("query.", "question_model.", "module.question_model."),
    "document": ("document.", "ctx_model.", "module.ctx_model."),
}
UNUSED = ("pooler.", "embeddings.position_ids")  # parts of published files that no vector needs


def pretrained_network(folder: Path, layers: int | None, weights: bool = True) -> Any:
    """Return a BERT or RoBERTa without its pooler and without dropout.

    Args:
        folder: with `config.json`, and `model.safetensors` where weights are asked for.
        layers: how many of the lowest layers are kept; None keeps all.
        weights: whether to load them, from names with or without the model's own prefix.

    Raises:
        ConfigError: if more layers are asked for than there are.
        DataError: for a model of another type, or if a weight is missing.
    """
    config = AutoConfig.from_pretrained(folder)
    if config.model_type not in NETWORKS:
        raise DataError(
            f"{folder}/config.json: model_type is {config.model_type!r}, need "
            f"{' or '.join(NETWORKS)}; use another encoder."
        )
    if layers is not None and not 1 <= layers <= config.num_hidden_layers:
        raise ConfigError(
            f"layers is {layers}, need 1 to {config.num_hidden_layers} (what {folder.name} has); "
            "correct it."
        )
    config.num_hidden_layers = layers or config.num_hidden_layers
    # The loss of vectors is noisy enough: without dropout an encoding while training is that of
    # the search (our choice).
    config.hidden_dropout_prob = config.attention_probs_dropout_prob = 0.0
    config._attn_implementation = "sdpa"
    network = NETWORKS[config.model_type][1](config, add_pooling_layer=False)
    if weights:
        found = read_weights(folder)
        prefix = f"{config.model_type}."
        bare = {name.removeprefix(prefix): part for name, part in found.items()}
        _fill(network, bare, f"{folder}/model.safetensors")
    return network


def read_weights(folder: Path) -> dict[str, Tensor]:
    """Return the weights of `model.safetensors`, or of `pytorch_model.bin` where that is all.

    They are tensors of any shape, by the names of the file.

    Raises:
        DataError: if there is neither, or it is damaged.
    """
    safe, old = folder / "model.safetensors", folder / "pytorch_model.bin"
    path = safe if safe.exists() or not old.exists() else old
    try:
        weights: dict[str, Tensor] = (
            load_file(safe)
            if path == safe
            else torch.load(old, map_location="cpu", weights_only=True)
        )
    except Exception as error:  # whatever the readers make of a damaged file
        reason = str(error).partition("\n")[0]
        raise DataError(f"{path}: cannot be read ({reason}); fetch or make it again.") from error
    return weights


def load_weights(model: nn.Module, folder: Path) -> None:
    """Fill a bi-encoder with the weights of a folder, ours or of a published layout.

    Every parameter comes from the file, those of the head too: none keeps the numbers that it was
    made with.

    Args:
        model: with one tower, `both`, or the towers `query` and `document`.
        folder: of the weights.

    Raises:
        DataError: naming the first parameter that no name of the file fits.
    """
    weights = read_weights(folder)
    for name, tower in model.named_children():
        prefixes = [f"{name}.", *PREFIXES[name]]
        kind = tower.kind
        best: dict[str, Tensor] = {}
        for prefix in prefixes:
            found = {
                key.removeprefix(prefix): part
                for key, part in weights.items()
                if key.startswith(prefix)
            }
            for start in (f"{kind}.", ""):  # an encoder alone has names without its kind
                named = {
                    key
                    if start or key.partition(".")[0] in ("embeddingHead", "norm")
                    else f"{kind}.{key}": part
                    for key, part in found.items()
                }
                if len(named.keys() & tower.state_dict().keys()) > len(
                    best.keys() & tower.state_dict().keys()
                ):
                    best = named
        _fill(tower, best, str(folder))


def _fill(module: nn.Module, weights: Mapping[str, Tensor], where: str) -> None:
    state = module.state_dict()
    missing = [name for name in state if name not in weights]
    if missing:
        raise DataError(
            f"{where}: weight {missing[0]!r} is missing ({len(missing)} of {len(state)} are), need "
            "all of the architecture's; a weight left out would stay random. Use the "
            "architecture that the file was trained with."
        )
    wrong = [name for name in state if state[name].shape != weights[name].shape]
    if wrong:
        raise DataError(
            f"{where}: weight {wrong[0]!r} has the shape {list(weights[wrong[0]].shape)}, need "
            f"{list(state[wrong[0]].shape)}; use the architecture and config of the file."
        )
    module.load_state_dict({name: weights[name] for name in state})
