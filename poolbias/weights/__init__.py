"""Weights of a pair of scores, one module each, found by name.

A weight is a function of the scores of one batch and carries no gradient.
"""

from collections.abc import Callable
from typing import Any

from poolbias.registry import resolve

# A module is never called like its function: importing it would hide the function.
REGISTRY = {
    "one": "poolbias.weights.constant:one",
    "coupled": "poolbias.weights.coupling:coupled",
}


def get(name: str) -> Callable[..., Any]:
    """Return the weight function `name`; `ConfigError` if there is none."""
    function: Callable[..., Any] = resolve("weight", REGISTRY, name)
    return function


def __getattr__(name: str) -> Any:
    if name in REGISTRY:
        return get(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
