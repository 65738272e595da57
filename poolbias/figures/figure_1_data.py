"""The table behind Figure 1: everything that it shows, a row per bar, point and text."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from poolbias.errors import ConfigError, DataError
from poolbias.evaluation.resampling import Interval, interval, ratio
from poolbias.formats.tsv import read_table

TRUTH, LABELS = "truth", "labels"
COLUMNS = [
    *("panel", "retriever", "judgements", "measure", "source", "status", "collection"),
    *("value", "low", "high", "queries", "groups", "seeds"),
]
NUMBERS = ["value", "low", "high"]
COUNTS = ["queries", "groups"]
_PAPER_MEASURES = {"Recall": "R", "MRR": "RR"}


@dataclass(frozen=True)
class PerQuery:
    """The per-query numbers of one file, and what they are of.

    Attributes:
        values: columns `query_id`, `measure`, `value`; for shares the columns of
            `poolbias.evaluation.false_negatives.shares`.
        retriever: the retriever's name.
        judgements: `truth`, or labels (any other name); not used for shares.
        seed: the ranker's seed; not used for runs and shares.
        origin: the file's name, for messages.
    """

    values: pd.DataFrame
    retriever: str
    judgements: str = TRUTH
    seed: int = 0
    origin: str = "per-query table"


def build_data(
    paper: pd.DataFrame,
    queries: pd.DataFrame,
    recall: Sequence[PerQuery],
    rankings: Sequence[PerQuery],
    shares: Sequence[PerQuery],
    *,
    retrievers: Sequence[str],
    collection: str,
    cut: int = 100,
    measure: str = "RR@10",
    resamples: int = 2000,
) -> pd.DataFrame:
    """Return the table of Figure 1.

    Args:
        paper: columns of `config/paper_tables.tsv`; rows with `place` "Figure 1" are used.
        queries: columns `query_id`, `group` (the unit that is resampled).
        recall: per retriever and judgements, values of `R@cut`.
        rankings: per retriever, judgements and seed of its naive ranker, values of `measure`.
        shares: per retriever, counts of false negatives per query and depth.
        retrievers: those to show, whether or not there are files for them.
        collection: the name of the study's collection.
        cut: depth of the recall.
        measure: what the rankers are judged by, as ir-measures spells it.
        resamples: number of resampled means behind each interval.

    Returns:
        A frame with the columns `COLUMNS`. `panel`: a (recall), b (rankers), c (the paper), d
        (false negatives, measure `FN@depth`). `source`: ours or paper. `status`: `mean`, `seed`
        (one seed of several) or `not run` for ours; `printed`, `derived`, `elsewhere` or `unknown`
        for the paper's. `low`, `high`: 95% interval over groups (rankers: of the mean over seeds).
        Retrievers stand in ascending order of recall, ours and the paper's each by its own.

    Raises:
        ConfigError: if two files say that they hold the same thing.
        DataError: naming the file if a measure or a query's group is missing, or if seeds were
            evaluated on different queries.
    """
    groups = dict(zip(queries["query_id"], queries["group"], strict=True))
    rows = [
        *_ours("a", f"R@{cut}", recall, retrievers, groups, resamples),
        *_ours("b", measure, rankings, retrievers, groups, resamples),
        *_paper(paper),
        *_false_negatives(shares, retrievers, groups, resamples),
    ]
    frame = pd.DataFrame(rows, columns=COLUMNS)
    ours = frame["source"] == "ours"
    frame.loc[ours, "collection"] = collection
    return _by_recall(frame).astype(dict.fromkeys(COUNTS, "Int64"))


def read_data(path: Path | str) -> pd.DataFrame:
    """Read the table that `build_data` returned and `write_table` wrote.

    Raises:
        DataError: naming the file if a column is missing or a number is not one.
    """
    frame = read_table(path, COLUMNS)[COLUMNS]
    try:
        for column in NUMBERS + COUNTS:
            numbers = pd.to_numeric(frame[column].where(frame[column] != ""))
            frame[column] = numbers.astype("Int64" if column in COUNTS else "float64")
    except ValueError as error:
        raise DataError(f"{path}: {error}; make the table again.") from error
    return frame


def _ours(
    panel: str,
    measure: str,
    files: Sequence[PerQuery],
    retrievers: Sequence[str],
    groups: dict[str, str],
    resamples: int,
) -> list[dict[str, Any]]:
    _check_distinct(files)
    rows: list[dict[str, Any]] = []
    for retriever in retrievers:
        for judgements in (TRUTH, LABELS):
            chosen = [f for f in files if f.retriever == retriever and _kind(f) == judgements]
            chosen.sort(key=lambda file: file.seed)
            about = _about(panel, retriever, judgements, measure)
            if not chosen:
                rows.append(about | {"status": "not run"})
                continue
            seeds = [_values(file, measure) for file in chosen]
            for file, values in zip(chosen, seeds, strict=True):
                if not values.index.equals(seeds[0].index):
                    raise DataError(
                        f"{file.origin}: its queries are not those of {chosen[0].origin}, need the "
                        "same for all seeds; evaluate both on the same judgements."
                    )
            mean = pd.concat(seeds, axis=1).mean(axis=1)
            found = interval(_grouped(mean, groups, chosen[0].origin), resamples=resamples)
            names = " ".join(str(file.seed) for file in chosen) if panel == "b" else ""
            rows.append(about | {"status": "mean", "seeds": names} | _numbers(found))
            if len(chosen) > 1:
                rows += [
                    about
                    | {"status": "seed", "seeds": str(file.seed), "queries": len(values)}
                    | {"value": float(values.mean())}
                    for file, values in zip(chosen, seeds, strict=True)
                ]
    return rows


def _false_negatives(
    files: Sequence[PerQuery], retrievers: Sequence[str], groups: dict[str, str], resamples: int
) -> list[dict[str, Any]]:
    _check_distinct(files)
    rows: list[dict[str, Any]] = []
    for retriever in retrievers:
        chosen = [file for file in files if file.retriever == retriever]
        for file in chosen:
            for depth, counts in file.values.groupby("depth", sort=True):
                table = counts.rename(
                    columns={"false_negatives": "numerator", "unlabelled": "denominator"}
                )
                table = table.assign(group=_groups_of(table["query_id"], groups, file.origin))
                found = ratio(table, resamples=resamples)
                about = _about("d", retriever, TRUTH, f"FN@{depth}")
                rows.append(about | {"status": "mean"} | _numbers(found))
        if not chosen:
            rows.append(_about("d", retriever, TRUTH, "FN") | {"status": "not run"})
    return rows


def _paper(paper: pd.DataFrame) -> list[dict[str, Any]]:
    """Read the paper's values; one known only as a range becomes its middle with the range."""
    chosen = paper[paper["place"] == "Figure 1"]
    if chosen.empty:
        raise DataError(
            "paper tables: no row has the place 'Figure 1', need its values; restore the file."
        )
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for row in chosen.to_dict("records"):
        name, _, bound = str(row["measure"]).partition(" ")
        kind, _, cut = name.partition("@")
        measure = f"{_PAPER_MEASURES.get(kind, kind)}@{cut}"
        retriever = str(row["system"]).split()[0]
        about = _about("c", retriever, LABELS, measure, "paper")
        entry = rows.setdefault((measure, retriever), about)
        entry |= {"status": row["status"], "collection": row["collection"]}
        number = float(row["value"]) if row["value"] else np.nan
        entry[bound or "value"] = number
    for entry in rows.values():
        if "value" not in entry:
            entry["value"] = round((entry["low"] + entry["high"]) / 2, 6)
    return list(rows.values())


def _by_recall(frame: pd.DataFrame) -> pd.DataFrame:
    """Sort retrievers by recall (by truth first), within panel, measure and judgements."""
    order: dict[tuple[str, str], float] = {}
    recall = frame[(frame["panel"] == "a") | frame["measure"].str.startswith("R@")]
    recall = recall[recall["status"] != "seed"]
    for row in recall.to_dict("records"):
        key = (row["source"], row["retriever"])
        if np.isnan(order.get(key, np.nan)):
            order[key] = row["value"]
    ranks = [
        order.get(key, np.nan) for key in zip(frame["source"], frame["retriever"], strict=True)
    ]
    depth = pd.to_numeric(frame["measure"].str.partition("@")[2], errors="coerce")
    first = frame["measure"].str.startswith("R@")
    keyed = frame.assign(
        _recall=ranks, _depth=depth, _second=~first, _labels=frame["judgements"] != TRUTH
    )
    keys = ["panel", "_second", "_recall", "retriever", "_labels", "_depth", "status", "seeds"]
    return keyed.sort_values(keys, ignore_index=True, kind="stable")[COLUMNS]


def _about(
    panel: str, retriever: str, judgements: str, measure: str, source: str = "ours"
) -> dict[str, Any]:
    return {
        "panel": panel,
        "retriever": retriever,
        "judgements": judgements,
        "measure": measure,
        "source": source,
        "seeds": "",
    }


def _numbers(found: Interval) -> dict[str, Any]:
    return {
        "value": found.mean,
        "low": found.low,
        "high": found.high,
        "queries": found.rows,
        "groups": found.groups,
    }


def _kind(file: PerQuery) -> str:
    return TRUTH if file.judgements == TRUTH else LABELS


def _values(file: PerQuery, measure: str) -> "pd.Series[float]":
    rows = file.values[file.values["measure"] == measure]
    if rows.empty:
        found = ", ".join(sorted(set(file.values["measure"]))) or "none"
        raise DataError(
            f"{file.origin}: holds no {measure} (found: {found}); evaluate this ranking with it."
        )
    return rows.set_index("query_id")["value"].astype("float64").sort_index()


def _grouped(values: "pd.Series[float]", groups: dict[str, str], origin: str) -> pd.DataFrame:
    ids = pd.Series(values.index)
    return pd.DataFrame({"group": _groups_of(ids, groups, origin), "value": values.to_numpy()})


def _groups_of(query_ids: "pd.Series[str]", groups: dict[str, str], origin: str) -> list[str]:
    lacking = [query for query in query_ids if query not in groups]
    if lacking:
        raise DataError(
            f"{origin}: query {lacking[0]} is not in the collection's queries, need its group; "
            "give the queries that this file was made from."
        )
    return [groups[query] for query in query_ids]


def _check_distinct(files: Sequence[PerQuery]) -> None:
    seen: dict[tuple[str, str, int], str] = {}
    for file in files:
        key = (file.retriever, _kind(file), file.seed)
        if key in seen:
            raise ConfigError(
                f"figure_1: {file.origin} and {seen[key]} are both said to be of retriever "
                f"{file.retriever}, judgements {file.judgements}, seed {file.seed}; correct one."
            )
        seen[key] = file.origin
