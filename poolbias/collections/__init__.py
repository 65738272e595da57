"""Collections: one module each, found by the kind that a study file names."""

import difflib
import importlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from poolbias.collections.base import Collection, check_splits
from poolbias.collections.given import Given
from poolbias.errors import ConfigError

__all__ = ["KINDS", "Collection", "Given", "build"]

# By string, so that asking for one collection imports no other.
KINDS = {
    "hpo": "poolbias.collections.hpo",
    "wordnet": "poolbias.collections.wordnet",
    "beir": "poolbias.collections.own_files",
    "files": "poolbias.collections.own_files",
    "ir_datasets": "poolbias.collections.own_files",
    "msmarco-passage": "poolbias.collections.msmarco",
    "msmarco-document": "poolbias.collections.msmarco",
    "dureader-retrieval": "poolbias.collections.dureader",
    "nq": "poolbias.collections.dpr",
    "triviaqa": "poolbias.collections.dpr",
    "ms-pas": "poolbias.collections.dpr",
}
# Modules of several collections, which are told the kind.
SEVERAL = frozenset(f"poolbias.collections.{name}" for name in ("own_files", "msmarco", "dpr"))


def build(
    kind: str, parameters: Mapping[str, Any], sources: Sequence[Path] = ()
) -> Collection | Given:
    """Build the collection `kind` (one of `KINDS`) from its own parameters.

    Args:
        kind: the collection's module.
        parameters: what the study file says of it.
        sources: the files that it is made from, for modules that take some.

    Raises:
        ConfigError: for an unknown kind, naming the nearest one, parameters that do not fit, or a
            split that is left without queries.
        DataError, ToolError: as the collection's module says.
    """
    if kind not in KINDS:
        near = difflib.get_close_matches(kind, KINDS, n=1, cutoff=0) or list(KINDS)
        raise ConfigError(
            f"kind: there is no collection {kind!r}; did you mean {near[0]!r}? "
            f"(known: {', '.join(KINDS)})"
        )
    module = importlib.import_module(KINDS[kind])
    told = {"kind": kind} if KINDS[kind] in SEVERAL else {}
    given = (told | dict(parameters), *([list(sources)] if sources else []))
    collection: Collection | Given = module.build(*given)
    if not isinstance(collection, Given):
        check_splits(collection.queries)
    return collection
