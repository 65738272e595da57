"""Weights of a positive and a negative by their scores, one module each, found by name.

Each takes the scores of the positives, float32 [pairs, 1], those of their negatives, float32
[pairs, negatives] (or [pairs] both), and its options by name, and returns a weight per negative,
float32 of the shape of the negatives, without gradient.
"""

from collections.abc import Callable
from typing import Any

from poolbias.registry import resolve

# A module is never called like its function: importing it would hide the function.
REGISTRY = {
    "one": "poolbias.weights.constant:one",
    "coupled": "poolbias.weights.coupling:coupled",
    "gaussian": "poolbias.weights.prediction:gaussian",
}


def get(name: str) -> Callable[..., Any]:
    """Return the weight function `name`; `ConfigError` if there is none."""
    function: Callable[..., Any] = resolve("weight", REGISTRY, name)
    return function


def __getattr__(name: str) -> Any:
    if name in REGISTRY:
        return get(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
