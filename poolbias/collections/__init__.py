"""Collections: one module each, found by the kind that a study file names."""

import difflib
import importlib
from collections.abc import Mapping
from typing import Any

from poolbias.collections.base import Collection
from poolbias.errors import ConfigError

__all__ = ["KINDS", "Collection", "build"]

# By string, so that asking for one collection imports no other.
KINDS = {"hpo": "poolbias.collections.hpo"}


def build(kind: str, parameters: Mapping[str, Any]) -> Collection:
    """Build the collection `kind` (one of `KINDS`) from its own parameters.

    Raises:
        ConfigError: for an unknown kind, naming the nearest one, or parameters that do not fit.
        DataError, ToolError: as the collection's module says.
    """
    if kind not in KINDS:
        near = difflib.get_close_matches(kind, KINDS, n=1, cutoff=0) or list(KINDS)
        raise ConfigError(
            f"kind: there is no collection {kind!r}; did you mean {near[0]!r}? "
            f"(known: {', '.join(KINDS)})"
        )
    collection: Collection = importlib.import_module(KINDS[kind]).build(dict(parameters))
    return collection
