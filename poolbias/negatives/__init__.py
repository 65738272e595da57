"""Which unlabelled candidates may be drawn, with what weight: one module per choice.

Each module has `weights(frame, parameters)`: for the candidates in `frame` (columns query_row,
document_row, rank, score and, where the truth is known, relevant) it returns float64 [candidates],
not negative and up to a constant per query; 0 is never drawn.
"""

from collections.abc import Callable
from typing import Any

from poolbias.registry import resolve

REGISTRY = {
    "uniform": "poolbias.negatives.uniform:weights",
    "oracle": "poolbias.negatives.oracle:weights",
}


def get(name: str) -> Callable[..., Any]:
    """Return the `weights` function of the negatives `name`; `ConfigError` if there is none."""
    function: Callable[..., Any] = resolve("negatives", REGISTRY, name)
    return function
