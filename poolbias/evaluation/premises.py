"""What CET takes for granted, put to the test where the pool and the truth are known.

The paper's Eq. 6 and 11 say "proportional to"; what is tested is the direction alone, query by
query: an AUC above .5 is what the paper says, .5 no relation, below it the opposite.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from poolbias.errors import DataError
from poolbias.evaluation import association
from poolbias.evaluation.means import mean
from poolbias.formats.tsv import read_table
from poolbias.probe import top

SYSTEM = ["experiment", "retriever", "pool", "method", "step"]
COLUMNS = [
    *(*SYSTEM, "premise", "source", "statement", "among", "measure", "status"),
    *("mean", "low", "high", "queries", "left_out", "groups", "seeds"),
]
_COUNTS = ["step", "queries", "left_out", "groups", "seeds"]
_NUMBERS = ["mean", "low", "high"]


@dataclass(frozen=True)
class Premise:
    """One statement about the documents at the top of a run.

    Attributes:
        name: short name.
        source: where the paper says it; a control asks the model that should not know.
        statement: in words.
        score: column of the probe whose height is looked at.
        outcome: column that it is compared with.
        higher: whether documents with the outcome should have the higher scores.
        among: the documents looked at: all, unlabelled, relevant or irrelevant.
        measure: AUC, turned so that above .5 is as stated, or Spearman as it is.
    """

    name: str
    source: str
    statement: str
    score: str
    outcome: str
    higher: bool
    among: str = "all"
    measure: str = "AUC"


# fmt: off
PREMISES = (
    Premise("weight", "Figure 5", "w_r is lower for relevant documents", "w_r", "relevant", False),
    Premise("weight_spearman", "Figure 5", "w_r against relevance", "w_r", "relevant", False,
            measure="Spearman"),
    Premise("selection", "Eq. 17", "S is higher for pooled documents", "s", "pooled", True),
    Premise("selection_relevant", "Eq. 17", "S is higher for pooled documents", "s", "pooled", True,
            "relevant"),
    Premise("selection_irrelevant", "Eq. 17", "S is higher for pooled documents", "s", "pooled",
            True, "irrelevant"),
    Premise("selection_by_r", "control", "R is higher for pooled documents", "r", "pooled", True),
    Premise("relevance", "Eq. 17", "R is higher for relevant documents", "r", "relevant", True),
    Premise("relevance_by_s", "control", "S is higher for relevant documents", "s", "relevant",
            True),
    Premise("irrelevant_if_selected", "Eq. 6", "S is higher for irrelevant documents", "s",
            "relevant", False, "unlabelled"),
    Premise("irrelevant_if_pooled", "Eq. 6", "pooled documents are irrelevant", "pooled",
            "relevant", False, "unlabelled"),
    Premise("unselected_if_scored", "Eq. 11", "R is higher for unpooled documents", "r", "pooled",
            False, "unlabelled"),
    Premise("unselected_if_relevant", "Eq. 11", "relevant documents are unpooled", "relevant",
            "pooled", False, "unlabelled"),
)
# fmt: on


def per_query(probe: pd.DataFrame, depth: int) -> pd.DataFrame:
    """Return each premise's measure for each query and step.

    Args:
        probe: columns of `poolbias.probe.read_probe`.
        depth: how many documents of a query are looked at; paired documents below are not.

    Returns:
        Columns `step`, `premise`, `query_id` and `value` (float64). A query whose documents do not
        differ in what a premise compares is left out of it, and a premise about the pool is left
        out where the pool is not known.
    """
    parts = []
    documents = top(probe, depth)
    pool_known = bool(documents["pooled"].notna().all())
    for step, at_step in documents.groupby("step"):
        for premise in PREMISES:
            if not pool_known and "pooled" in (premise.score, premise.outcome):
                continue
            values = _values(_among(at_step, premise.among), premise)
            part = values.rename("value").rename_axis("query_id").reset_index()
            parts.append(part.assign(step=step, premise=premise.name))
    columns = ["step", "premise", "query_id", "value"]
    return pd.concat(parts)[columns] if parts else pd.DataFrame(columns=columns)


def measure(
    probes: Sequence[tuple[Mapping[str, Any], pd.DataFrame]], depth: int
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Measure the premises on several probes.

    Args:
        probes: `experiment`, `retriever`, `pool`, `method` and `seed` of each, and what
            `poolbias.probe.read_probe` returns of it.
        depth: as in `per_query`.

    Returns:
        The columns of `SYSTEM`, `seed`, `premise`, `query_id` and `value`; and what was probed:
        columns of `SYSTEM` and `queries`, a row per system whatever its number of seeds.
    """
    values, probed = [], []
    for system, probe in probes:
        values.append(per_query(probe, depth).assign(**system))
        counts = probe.groupby("step")["query_id"].nunique().rename("queries").reset_index()
        probed.append(counts.assign(**system))
    columns = [*SYSTEM, "seed", "premise", "query_id", "value"]
    if not probes:
        return pd.DataFrame(columns=columns), pd.DataFrame(columns=[*SYSTEM, "queries"])
    systems = pd.concat(probed)[[*SYSTEM, "queries"]].drop_duplicates(SYSTEM)
    return pd.concat(values)[columns], systems


def summarise(
    values: pd.DataFrame, probed: pd.DataFrame, queries: pd.DataFrame, resamples: int = 2000
) -> pd.DataFrame:
    """Return each premise's mean over queries with its 95% interval over groups and seeds.

    Args:
        values: what `per_query` returns, with the columns of `SYSTEM` and `seed`.
        probed: columns of `SYSTEM` and `queries`, how many queries were probed; a row per system.
        queries: columns `query_id` and `group`, the unit that is resampled.
        resamples: as in `poolbias.evaluation.means.mean`.

    Returns:
        Columns of `COLUMNS`, a row per system and premise; `status` is `mean`, or `not run` where
        no query can tell or the pool is not known; `left_out` counts the queries that cannot.

    Raises:
        DataError: as `poolbias.evaluation.means.mean`.
    """
    grouped = values.merge(queries[["query_id", "group"]], on="query_id", how="left")
    rows = []
    for system in probed.to_dict("records"):
        own = grouped[(grouped[SYSTEM] == [system[name] for name in SYSTEM]).all(axis=1)]
        for premise in PREMISES:
            chosen = own[own["premise"] == premise.name]
            row = {name: system[name] for name in SYSTEM}
            row |= {"premise": premise.name, "source": premise.source}
            row |= {"statement": premise.statement, "among": premise.among}
            row |= {"measure": premise.measure}
            if chosen.empty:
                rows.append(row | {"status": "not run", "left_out": system["queries"]})
                continue
            found = mean(chosen, resamples=resamples)._asdict()
            left_out = system["queries"] - found["queries"]
            rows.append(row | {"status": "mean", "left_out": left_out} | found)
    types = dict.fromkeys(_COUNTS, "Int64") | dict.fromkeys(_NUMBERS, "float64")
    return pd.DataFrame(rows, columns=COLUMNS).astype(types)


def read_premises(path: Path | str) -> pd.DataFrame:
    """Read the table that `summarise` returned, with the columns `COLUMNS`.

    Raises:
        DataError: naming the file if a column is missing or a number is not one.
    """
    frame = read_table(path, COLUMNS)[COLUMNS]
    try:
        for column in [*_COUNTS, *_NUMBERS]:
            found = pd.to_numeric(frame[column].where(frame[column] != ""))
            frame[column] = found.astype("Int64" if column in _COUNTS else "float64")
    except (ValueError, TypeError) as error:
        raise DataError(f"{path}: {error}; measure the premises again.") from error
    return frame


def _among(documents: pd.DataFrame, among: str) -> pd.DataFrame:
    if among == "unlabelled":
        return documents[documents["labelled"] == 0]
    if among in ("relevant", "irrelevant"):
        return documents[documents["relevant"] == int(among == "relevant")]
    return documents


def _values(documents: pd.DataFrame, premise: Premise) -> "pd.Series[float]":
    if premise.measure == "Spearman":
        return association.spearman(documents, premise.score, premise.outcome)
    found = association.auc(documents, premise.score, premise.outcome)
    return found if premise.higher else 1 - found
