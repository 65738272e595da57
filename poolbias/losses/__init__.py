"""Losses of a labelled document and its negatives, one module each, found by name.

Each takes the scores of the positives, float32 [pairs], those of their negatives, float32
[pairs, negatives], the shares of these (None is 1 each) and its options by name, and returns the
loss of each pair, float32 [pairs]. What a step minimises is the mean over pairs of scale times
loss; `poolbias.losses.weighting` makes scale and shares of the weights.
"""

from collections.abc import Callable
from typing import Any

from poolbias.registry import resolve

REGISTRY = {
    "pairwise_cross_entropy": "poolbias.losses.pairwise:pairwise_cross_entropy",
    "softmax_cross_entropy": "poolbias.losses.listwise:softmax_cross_entropy",
    "softmax_and_pointwise": "poolbias.losses.listwise:softmax_and_pointwise",
}


def get(name: str) -> Callable[..., Any]:
    """Return the loss function `name`; `ConfigError` if there is none."""
    function: Callable[..., Any] = resolve("loss", REGISTRY, name)
    return function


def __getattr__(name: str) -> Any:
    if name in REGISTRY:
        return get(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
