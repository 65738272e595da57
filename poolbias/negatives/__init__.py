"""Which unlabelled candidates may be drawn, with what weight: one module per choice.

Each module has `weights(frame, parameters)`: for the candidates in `frame` it returns float64
[candidates], not negative and up to a constant per query; 0 is never drawn. Columns of `frame`, one
row per candidate of a labelled query, sorted by query and rank:

- `query_id` (str), `query_row`, `document_row`, `rank` (of the retriever, from 1), `score` (the
  retriever's, or a teacher's where the parameters name one);
- `relevant` (bool), where the truth is known;
- `positive_score`, if the parameters have `positive`: the score of the query's labelled documents;
- `selected` (bool), if the choice reads the pool: annotators saw it.

`parameters` are the options of the study file, and `rank_relevance` (the probability of relevance
at ranks 1, 2, …) for choices that read it. A module may also have `figures(frame, parameters)`:
numbers for the statistics beside the table.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import pandas as pd

from poolbias.registry import resolve

REGISTRY = {
    "uniform": "poolbias.negatives.uniform:weights",
    "oracle": "poolbias.negatives.oracle:weights",
    "random": "poolbias.negatives.uniform:weights",
    "rocketqa": "poolbias.negatives.rocketqa:weights",
    "rance": "poolbias.negatives.rance:weights",
    "sieve": "poolbias.negatives.sieve:weights",
    "percpos": "poolbias.negatives.percpos:weights",
    "margin": "poolbias.negatives.margin:weights",
    "simans": "poolbias.negatives.simans:weights",
    "oracle_matched": "poolbias.negatives.oracle_matched:weights",
    "ideal_propensity": "poolbias.negatives.ideal_propensity:weights",
}


def get(name: str) -> Callable[..., Any]:
    """Return the `weights` function of the negatives `name`; `ConfigError` if there is none."""
    function: Callable[..., Any] = resolve("negatives", REGISTRY, name)
    return function


def over_all_queries(name: str) -> bool:
    """Return whether the negatives `name` look at the candidates of all queries together.

    Others judge each query's by themselves, so that queries can be taken in parts.
    """
    return hasattr(import_module(get(name).__module__), "figures")


def figures(name: str, frame: pd.DataFrame, parameters: dict[str, Any]) -> dict[str, float]:
    """Return what the negatives `name` tell of themselves: `figures` of their module, if any.

    Args:
        name: of the registry.
        frame: the columns that this package's text lists.
        parameters: as `weights` gets them.
    """
    module = import_module(get(name).__module__)
    own: Callable[..., dict[str, float]] = getattr(module, "figures", lambda *_: {})
    return own(frame, parameters)
