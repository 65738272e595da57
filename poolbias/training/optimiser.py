"""AdamW with a linear warm-up and decay, as the paper's §5.3 and the released code set it."""

from typing import Any

import torch
from torch import nn


def adamw(ranker: nn.Module, parameters: dict[str, Any]) -> torch.optim.AdamW:
    """Return AdamW over a ranker; biases and LayerNorm weights are not decayed.

    A ranker may have `learning_rates` (peaks of its own, by a parameter's name or the name of the
    module that it is in) and `undecayed` (names of further parameters without decay). A group's
    `share` is its peak as a multiple of the training's.

    Args:
        ranker: the model.
        parameters: `learning_rate`, `betas`, `epsilon`, `weight_decay`.
    """
    own: dict[str, float] = getattr(ranker, "learning_rates", {})
    undecayed = getattr(ranker, "undecayed", ())
    peak = parameters["learning_rate"]
    groups: dict[tuple[float, bool], list[nn.Parameter]] = {(1.0, True): [], (1.0, False): []}
    for place, module in ranker.named_modules():
        for name, parameter in module.named_parameters(recurse=False):
            full = f"{place}.{name}".lstrip(".")
            plain = name == "bias" or isinstance(module, nn.LayerNorm) or full in undecayed
            share = own.get(full.partition(".")[0], peak) / peak
            groups.setdefault((share, not plain), []).append(parameter)
    return torch.optim.AdamW(
        [
            {
                "params": found,
                "weight_decay": parameters["weight_decay"] if decayed else 0.0,
                "share": share,
            }
            for (share, decayed), found in groups.items()
        ],
        lr=peak,
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
