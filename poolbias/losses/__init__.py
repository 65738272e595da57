"""Losses per pair of scores, one module each, found by name."""

from collections.abc import Callable
from typing import Any

from poolbias.registry import resolve

REGISTRY = {
    "pairwise_cross_entropy": "poolbias.losses.pairwise:pairwise_cross_entropy",
}


def get(name: str) -> Callable[..., Any]:
    """Return the loss function `name`; `ConfigError` if there is none."""
    function: Callable[..., Any] = resolve("loss", REGISTRY, name)
    return function


def __getattr__(name: str) -> Any:
    if name in REGISTRY:
        return get(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
