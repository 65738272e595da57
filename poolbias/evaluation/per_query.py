"""Per-query files of many systems as one table: what figures, tables and claims start from."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from poolbias.errors import ConfigError, DataError
from poolbias.evaluation.measures import read_per_query
from poolbias.formats.tsv import read_table

SYSTEM = [
    *("experiment", "collection", "pool", "retriever", "method", "name", "ranker", "seed"),
    "judgements",
]
COMPARABLE = ["collection", "pool", "judgements"]  # systems alike in these have the same queries


def read_systems(
    paths: Sequence[Path | str], systems: Sequence[Mapping[str, Any]], queries: pd.DataFrame
) -> pd.DataFrame:
    """Read the per-query files of ranked systems into one frame.

    Args:
        paths: files of `query_id`, `measure`, `value`, as `evaluate` wrote them.
        systems: what each file is of, in the same order: the keys of `SYSTEM`.
        queries: columns `collection`, `query_id` and `group`, the unit that is resampled.

    Returns:
        Columns of `SYSTEM` (categories of text, `seed` int64), `query_id`, `group`, `measure`
        (str) and `value` (float64); files in the given order, each in its own order of rows.

    Raises:
        ConfigError: if there is not one description with every key per file, or two files are
            described alike.
        DataError: naming the first query that is not the collection's, or that one of two
            comparable systems (of one collection, pool and judgements) lacks.
    """
    _check_described(paths, systems)
    if not paths:
        return pd.DataFrame(columns=[*SYSTEM, "query_id", "group", "measure", "value"])
    groups = {
        str(collection): dict(zip(rows["query_id"], rows["group"], strict=True))
        for collection, rows in queries.groupby("collection", sort=False)
    }
    parts = [
        _grouped(read_per_query(path), groups.get(str(system["collection"]), {}), path, system)
        for path, system in zip(paths, systems, strict=True)
    ]
    _check_same_queries(parts, paths, systems)
    about = pd.DataFrame([{name: system[name] for name in SYSTEM} for system in systems])
    texts = [name for name in SYSTEM if name != "seed"]
    about = about.astype(dict.fromkeys(texts, "str")).astype(
        dict.fromkeys(texts, "category") | {"seed": "int64"}
    )
    of_file = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    values = pd.concat(parts, ignore_index=True)[["query_id", "group", "measure", "value"]]
    return pd.concat([about.iloc[of_file].reset_index(drop=True), values], axis=1)


def read_queries(paths: Sequence[Path | str], collections: Sequence[str]) -> pd.DataFrame:
    """Read `query_id` and `group` (str) of each collection's queries, with its `collection`.

    Raises:
        ConfigError: if there is not one name per file.
        DataError: as `read_table`.
    """
    if len(paths) != len(collections):
        raise ConfigError(
            f"queries: found {len(paths)} files for {len(collections)} collections, need one each; "
            "name the collection of each file, in the same order."
        )
    return pd.concat(
        [
            read_table(path, ["query_id", "group"])[["query_id", "group"]].assign(collection=name)
            for path, name in zip(paths, collections, strict=True)
        ],
        ignore_index=True,
    )


def _check_described(paths: Sequence[Path | str], systems: Sequence[Mapping[str, Any]]) -> None:
    if len(paths) != len(systems):
        raise ConfigError(
            f"per-query files: found {len(paths)} files, parameters describe {len(systems)}; "
            "describe each file, in the same order."
        )
    seen: dict[tuple[str, ...], Path | str] = {}
    for path, system in zip(paths, systems, strict=True):
        lacking = [name for name in SYSTEM if name not in system]
        if lacking:
            raise ConfigError(
                f"{path}: its description lacks {lacking[0]!r} (found: {', '.join(system)}); "
                "add it."
            )
        key = tuple(str(system[name]) for name in SYSTEM)
        if key in seen:
            raise ConfigError(
                f"{path} and {seen[key]} are both said to be of {spell(system)}, seed "
                f"{system['seed']}, by {system['judgements']}; describe each as what it is."
            )
        seen[key] = path


def spell(system: Mapping[str, Any]) -> str:
    """Return a system's name for people: retriever, method and ranker (`dense cet-paper-tau1`)."""
    ranker = "" if system["ranker"] == "-" else f" {system['ranker']}"
    return f"{system['retriever']} {system['method']}{ranker}"


def _grouped(
    values: pd.DataFrame, groups: Mapping[str, str], path: Path | str, system: Mapping[str, Any]
) -> pd.DataFrame:
    """Add the column `group`."""
    found = values["query_id"].map(groups)
    if found.isna().any():
        query = values["query_id"][found.isna()].iloc[0]
        raise DataError(
            f"{path}: query {query} is not among the queries of {system['collection']}; evaluate "
            "with the queries of this collection."
        )
    return values.assign(group=found.astype("str"))


def _check_same_queries(
    parts: Sequence[pd.DataFrame],
    paths: Sequence[Path | str],
    systems: Sequence[Mapping[str, Any]],
) -> None:
    """Refuse comparable systems of which one lacks a query that another has, in any measure."""
    first: dict[tuple[str, ...], int] = {}
    for index, part in enumerate(parts):
        key = tuple(str(systems[index][name]) for name in COMPARABLE)
        other = first.setdefault(key, index)
        for measure, rows in part.groupby("measure", sort=False):
            known = parts[other].loc[parts[other]["measure"] == measure, "query_id"]
            if known.empty:  # a run is measured deeper than the rankings of its top
                known = parts[other]["query_id"]
            differing = sorted(set(known) ^ set(rows["query_id"]))
            if differing:
                here = differing[0] in set(rows["query_id"])
                having, lacking = (index, other) if here else (other, index)
                raise DataError(
                    f"{paths[lacking]}: query {differing[0]} is missing from "
                    f"{spell(systems[lacking])}, which {spell(systems[having])} has "
                    f"({paths[having]}); evaluate both on the same queries."
                )
