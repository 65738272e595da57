"""AdamW with a linear warm-up and decay, as the paper's §5.3 and the released code set it."""

from typing import Any

import torch
from torch import nn


def adamw(ranker: nn.Module, parameters: dict[str, Any]) -> torch.optim.AdamW:
    """Return AdamW over a ranker; biases and LayerNorm weights are not decayed.

    Args:
        ranker: the model.
        parameters: `learning_rate`, `betas`, `epsilon`, `weight_decay`.
    """
    decayed: list[nn.Parameter] = []
    others: list[nn.Parameter] = []
    for module in ranker.modules():
        for name, parameter in module.named_parameters(recurse=False):
            plain = name == "bias" or isinstance(module, nn.LayerNorm)
            (others if plain else decayed).append(parameter)
    return torch.optim.AdamW(
        [
            {"params": decayed, "weight_decay": parameters["weight_decay"]},
            {"params": others, "weight_decay": 0.0},
        ],
        lr=parameters["learning_rate"],
        betas=tuple(parameters["betas"]),
        eps=parameters["epsilon"],
        fused=True,
    )


def learning_rate(step: int, parameters: dict[str, Any]) -> float:
    """Return the learning rate of `step` (from 1): linear up, then linear down to 0.

    It rises to its peak over the first `warm_up` share of `steps` and falls to 0 at the step after
    the last, so that every step learns something.
    """
    steps, peak = int(parameters["steps"]), float(parameters["learning_rate"])
    warm = float(parameters["warm_up"]) * steps
    if step <= warm:
        return peak * step / warm
    return peak * (steps + 1 - step) / (steps + 1 - warm)
