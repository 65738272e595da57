"""The table behind Figure 3: rankers trained with and without CET, retriever by retriever."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from poolbias.errors import DataError
from poolbias.evaluation.means import mean
from poolbias.evaluation.significance import compare
from poolbias.figures.parts import LABELS, NOT_RUN, TRUTH, letter

COLUMNS = [
    *("panel", "collection", "retriever", "method", "judgements", "measure", "source", "status"),
    *("value", "low", "high", "queries", "groups", "seeds", "note"),
]
NUMBERS = ["value", "low", "high"]
COUNTS = ["queries", "groups"]
PAPER = "paper"
# What the paper prints of its panels: its table, the collection, the measure, and by what.
_PAPER_PANELS = [
    ("msmarco-passage/dev", "MRR@10", "RR@10", LABELS),
    ("msmarco-document/dev", "MRR@10", "RR@10", LABELS),
    ("trec-dl-2019-passage", "nDCG@10", "nDCG@10", TRUTH),
    ("trec-dl-2019-document", "nDCG@10", "nDCG@10", TRUTH),
]
_PAPER_METHODS = {"ance naive": "naive", "ance cet": "cet"}


def build_data(
    paper: pd.DataFrame,
    systems: pd.DataFrame,
    *,
    collections: Sequence[str],
    retrievers: Sequence[str],
    methods: Sequence[str],
    measures: Mapping[str, Sequence[str]],
    resamples: int = 2000,
) -> pd.DataFrame:
    """Return the table of Figure 3.

    Args:
        paper: columns of `config/paper_tables.tsv`; rows of ANCE in Table 1, and the mean gains of
            section 6.3, are used.
        systems: columns of `poolbias.evaluation.per_query.read_systems`; per collection, retriever
            and method one ranker, of one or more seeds.
        collections: those to show.
        retrievers: those to show, whether or not there are rankers for them.
        methods: labels to show, the one that the others are compared with first.
        measures: by `truth` and by `labels`, as ir-measures spells them.
        resamples: number of resamples behind each interval.

    Returns:
        A frame with the columns `COLUMNS`. `panel`: a letter per collection, judgements and measure
        of ours, `paper` for the paper's. `status` of ours: `mean`, `seed` (one of several), `gain`
        (the mean less that of the first method, with its interval) or `not run` (`note` says why);
        of the paper's as in `config/paper_tables.tsv`, with `relative gain` as the measure of its
        mean gains. `low`, `high`: 95% interval over groups and seeds.

    Raises:
        DataError: as `mean` and `compare`.
    """
    rows: list[dict[str, Any]] = []
    panels = _panels(systems, collections, measures)
    for number, (collection, judgements, measure) in enumerate(panels):
        about = {"panel": letter(number), "collection": collection, "judgements": judgements}
        about |= {"measure": measure, "source": "ours"}
        chosen = systems[(systems["collection"] == collection) & (systems["measure"] == measure)]
        chosen = chosen[chosen["judgements"] == judgements]
        for retriever in retrievers:
            own = chosen[chosen["retriever"] == retriever]
            parts = {method: own[own["method"] == method] for method in methods}
            why = "" if not chosen.empty else _lacking(systems, collection, measure)
            for method, part in parts.items():
                told = about | {"retriever": retriever, "method": method}
                rows += _bars(told, part, resamples, why)
                if method != methods[0]:
                    rows += _gain(told, part, parts[methods[0]], resamples)
    frame = pd.DataFrame([*rows, *_paper(paper)], columns=COLUMNS)
    frame = frame.astype(dict.fromkeys(COUNTS, "Int64") | dict.fromkeys(NUMBERS, "float64"))
    return frame.fillna({"seeds": "", "note": ""})


def _panels(
    systems: pd.DataFrame, collections: Sequence[str], measures: Mapping[str, Sequence[str]]
) -> list[tuple[str, str, str]]:
    """Return collection, judgements and measure of each panel; judgements a collection has."""
    panels = []
    for collection in collections:
        own = set(systems.loc[systems["collection"] == collection, "judgements"])
        panels += [
            (collection, judgements, measure)
            for judgements in (TRUTH, LABELS)
            if judgements in own or not own
            for measure in measures[judgements]
        ]
    return panels


def _lacking(systems: pd.DataFrame, collection: str, measure: str) -> str:
    """Say why a panel has nothing."""
    own = systems[systems["collection"] == collection]
    if own.empty or measure in set(own["measure"]):
        return ""
    return f"{measure} is not among evaluation.measures"


def _bars(
    about: dict[str, Any], part: pd.DataFrame, resamples: int, why: str
) -> list[dict[str, Any]]:
    if part.empty:
        return [about | {"status": NOT_RUN, "note": why or "no such row in this study"}]
    if part["experiment"].nunique() > 1:
        names = " and ".join(sorted(set(part["experiment"]))[:2])
        raise DataError(
            f"figure_3: {about['retriever']} {about['method']} is of several rankers ({names}), "
            "need one; give the rows of one."
        )
    found = mean(part, resamples=resamples)
    seeds = part.groupby("seed")["value"].mean()
    numbers = {"value": found.mean, "low": found.low, "high": found.high}
    counts = {"queries": found.queries, "groups": found.groups}
    names = " ".join(str(seed) for seed in seeds.index)
    rows = [about | {"status": "mean", "seeds": names} | numbers | counts]
    if len(seeds) > 1:
        for seed, value in seeds.items():
            about_seed = about | {"status": "seed", "seeds": str(seed), "value": float(value)}
            rows.append(about_seed | {"queries": found.queries})
    return rows


def _gain(
    about: dict[str, Any], part: pd.DataFrame, reference: pd.DataFrame, resamples: int
) -> list[dict[str, Any]]:
    if part.empty or reference.empty:
        return []
    names = (about["method"], str(reference["method"].iloc[0]))
    found = compare(part, reference, resamples=resamples, names=names)
    numbers = {"value": found.difference, "low": found.low, "high": found.high}
    counts = {"queries": found.queries, "groups": found.groups, "seeds": str(found.seeds)}
    return [about | {"status": "gain", "note": f"less {names[1]}"} | numbers | counts]


def _paper(paper: pd.DataFrame) -> list[dict[str, Any]]:
    printed = {
        (row["collection"], row["measure"], row["system"]): row
        for row in paper[paper["place"] == "Table 1"].to_dict("records")
    }
    rows: list[dict[str, Any]] = []
    for collection, spelled, measure, judgements in _PAPER_PANELS:
        about = {"panel": PAPER, "collection": collection, "source": PAPER}
        about |= {"judgements": judgements, "measure": measure, "retriever": "ance"}
        for system, method in _PAPER_METHODS.items():
            if row := printed.get((collection, spelled, system)):
                value = {"status": row["status"], "value": float(row["value"])}
                rows.append(about | {"method": method} | value)
    gains = paper[(paper["place"] == "Section 6.3") & paper["measure"].str.endswith("gain")]
    for row in gains.to_dict("records"):
        about = {"panel": PAPER, "collection": row["collection"], "source": PAPER}
        about |= {"judgements": LABELS, "measure": "relative gain", "method": "cet"}
        about |= {"retriever": "repbert, ance, adore", "status": row["status"]}
        rows.append(about | {"value": float(row["value"]), "note": row["measure"]})
    return rows
