"""The table of claims: every claim on every column that it is about, with its verdict."""

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from poolbias.claims.comparisons import difference, swap, trend
from poolbias.claims.families import gap, stable, worst
from poolbias.claims.outside import gains, reading
from poolbias.claims.paper import paper_number
from poolbias.claims.systems import EACH, Store, base_name
from poolbias.claims.verdict import NOT_RUN, Finding, NotRunError, decide
from poolbias.evaluation.significance import holm

COLUMNS = [
    *("claim", "sentence", "source", "collection", "judgements", "measure"),
    *("pool", "retriever", "ranker", "systems", "side", "threshold", "verdict"),
    *("effect", "low", "high", "p_t", "p_randomisation", "p_holm", "smallest_detectable"),
    *("seeds", "queries", "groups", "paper", "reason", "note", "sources"),
]
OTHERS = "others"
COUNTS = ["seeds", "queries", "groups"]
_CHECKS: dict[str, Callable[[Store, str, tuple[str, str], Mapping[str, Any]], list[Finding]]] = {
    "difference": difference,
    "trend": trend,
    "swap": swap,
    "gap": gap,
    "stable": stable,
    "worst": worst,
    "gains": gains,
}
_NUMBERS = ("effect", "low", "high", "p_t", "p_randomisation", "smallest_detectable")
_PARTS = ("of", "over", "goal")


@dataclass(frozen=True)
class Sources:
    """What claims are checked against.

    Attributes:
        store: the study's systems.
        paper: columns of `config/paper_tables.tsv`, all text.
        tables: by name the tables behind figures, columns as their stages wrote them, all text.
        about: the folder's name of the collection that these tables are about.
    """

    store: Store
    paper: pd.DataFrame
    tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    about: str = ""


def build(claims: Mapping[str, Mapping[str, Any]], sources: Sources) -> pd.DataFrame:
    """Return the table of claims.

    Args:
        claims: as `poolbias.config.claims.read_claims` returned them.
        sources: what they are checked against.

    Returns:
        A frame with the columns `COLUMNS`, claims in their order, each with a row per collection,
        column and systems. `effect`, `low` and `high` are a 95% interval; `p_holm` is
        `p_randomisation` adjusted by Holm's rule over the rows of the claim; `paper` is text as
        printed; `sources` lists the ids of the systems behind the row, `; ` between. A row that
        could not be checked has verdict `not run` and the reason.
    """
    named = {name for claim in claims.values() for name in claim["columns"]} - {OTHERS}
    rows: list[dict[str, Any]] = []
    for name, claim in claims.items():
        own = [
            row
            for collection, column in _places(claim, sources.store, named)
            for check in _singles(claim["check"])
            for row in _rows(claim, check, collection, column, sources)
        ]
        adjusted = _adjusted([row["p_randomisation"] for row in own])
        said = {"claim": name} | {key: claim[key] for key in ("sentence", "source", "note")}
        rows += [said | row | {"p_holm": p} for row, p in zip(own, adjusted, strict=True)]
    types = dict.fromkeys(COUNTS, "Int64") | dict.fromkeys((*_NUMBERS, "p_holm"), "float64")
    return pd.DataFrame(rows, columns=COLUMNS).astype(types)


def _places(
    claim: Mapping[str, Any], store: Store, named: set[str]
) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield collections and columns: those that the claim names, and for `others` all the rest."""
    for name, columns in claim["columns"].items():
        if name == OTHERS:
            folders = [folder for folder in store.collections if base_name(folder) not in named]
        else:
            folders = [folder for folder in store.collections if base_name(folder) == name] or [
                name
            ]
        for folder in folders:
            for text in columns:
                judgements, _, measure = text.partition(" ")
                yield folder, (judgements, measure)


def _singles(check: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the check once for each combination of the methods and rankers that it lists."""
    parts = [name for name in _PARTS if check.get(name)]
    options = [
        [
            check[name] | {"method": [method], "ranker": [ranker]}
            for method in check[name]["method"]
            for ranker in check[name]["ranker"]
        ]
        for name in parts
    ]
    for chosen in itertools.product(*options):
        single = {**check, **dict(zip(parts, chosen, strict=True))}
        rankers = {part["ranker"][0] for part in chosen} - {EACH}
        # several rankers, listed alike on all sides, stand for each against itself
        if len(rankers) < 2 or any(check[n]["ranker"] != check[parts[0]]["ranker"] for n in parts):
            yield single


def _rows(
    claim: Mapping[str, Any],
    check: Mapping[str, Any],
    collection: str,
    column: tuple[str, str],
    sources: Sources,
) -> list[dict[str, Any]]:
    here = {"collection": collection, "judgements": column[0], "measure": column[1]}
    said = {"side": check["side"], "threshold": check["threshold"]}
    names = _names(check)
    number = paper_number(sources.paper, claim["paper"], base_name(collection), column[1], names)
    common = here | said | {"paper": number}
    try:
        if collection not in sources.store.collections:
            raise NotRunError(f"the study has no collection {collection}")
        if check["kind"] == "reading":
            if sources.about != collection:
                raise NotRunError(f"{check['file']}.tsv is about {sources.about}")
            found = reading(sources.tables, collection, column, check)
        else:
            found = _CHECKS[check["kind"]](sources.store, collection, column, check)
    except NotRunError as error:
        lacking = dict.fromkeys((*_NUMBERS, *COUNTS)) | {"sources": ""}
        told = {
            "pool": "-",
            "retriever": "-",
            "ranker": names["ranker"],
            "systems": _systems(names),
        }
        return [common | told | lacking | {"verdict": NOT_RUN, "reason": str(error)}]
    return [common | _told(finding, check) for finding in found]


def _told(finding: Finding, check: Mapping[str, Any]) -> dict[str, Any]:
    verdict, reason = decide(finding, check["side"], check["threshold"])
    numbers = {name: getattr(finding, name) for name in (*_NUMBERS, *COUNTS)}
    told = {"verdict": verdict, "reason": reason, "sources": "; ".join(finding.sources)}
    return finding.about | numbers | told


def _names(check: Mapping[str, Any]) -> dict[str, str]:
    """Return what a check's systems are called, for people and for the paper's table."""
    parts = {name: check[name] for name in _PARTS if check.get(name)}
    rankers = [part["ranker"][0] for part in parts.values() if part["ranker"] != [EACH]]
    names = {name: part["method"][0] for name, part in parts.items()}
    return {"of": "", "over": ""} | names | {"ranker": rankers[0] if rankers else "-"}


def _systems(names: Mapping[str, str]) -> str:
    return " over ".join(names[part] for part in ("of", "over") if names[part]) or "-"


def _adjusted(values: list[float | None]) -> list[float]:
    there = [n for n, p in enumerate(values) if p is not None and not math.isnan(p)]
    adjusted = [math.nan] * len(values)
    for n, p in zip(there, holm([float(values[n] or 0) for n in there]), strict=True):
        adjusted[n] = float(p)
    return adjusted
