"""The table behind Figure 5: w_r of one query's documents, over training, and of all queries."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from poolbias import probe
from poolbias.errors import DataError
from poolbias.figures.parts import NOT_RUN
from poolbias.formats.tsv import read_table

COLUMNS = [
    *("panel", "retriever", "pool", "method", "name", "source", "statement", "among", "measure"),
    *("status", "step", "seed"),
    *("query_id", "document_id", "rank", "relevant", "labelled", "pooled", "paired"),
    *("value", "low", "high", "queries", "left_out", "groups", "seeds", "note"),
]
NUMBERS = ["value", "low", "high"]
COUNTS = [
    *("step", "seed", "rank", "relevant", "labelled", "pooled", "paired"),
    *("queries", "left_out", "groups", "seeds"),
]
CASE, TRAINING, PREMISES = "case", "training", "premises"
TOP, PAIRED = "top", "paired"
KINDS = {"false": "false negatives", "true": "true negatives"}
WINDOWS = 40  # stretches of a training whose steps are averaged


@dataclass(frozen=True)
class Coupled:
    """What is known of one coupled training.

    Attributes:
        method: its label.
        seed: its seed.
        probed: columns of `poolbias.probe.read_probe`.
        training: what `read_training` returns of it.
    """

    method: str
    seed: int
    probed: pd.DataFrame
    training: pd.DataFrame


def build_data(
    premises: pd.DataFrame,
    trainings: Sequence[Coupled],
    texts: Mapping[str, str],
    paper: pd.DataFrame,
    *,
    methods: Sequence[str],
    depth: int,
    query: str | None = None,
) -> pd.DataFrame:
    """Return the table of Figure 5.

    Args:
        premises: columns of `poolbias.evaluation.premises.summarise`.
        trainings: the coupled trainings of the methods, one or more seeds each.
        texts: the queries' texts by id.
        paper: columns of `config/paper_tables.tsv`; rows of section 6.5 are used.
        methods: labels to show, whether or not there is a training for them.
        depth: how many documents of the query are shown.
        query: its id; None takes `poolbias.probe.case`.

    Returns:
        A frame with the columns `COLUMNS`. `panel`: `case` (w_r of each document of one query at
        each step that was probed; `seed` is the first, `note` the query's text, `status` is
        `top`, or `paired` for a paired document that is not there), `training` (mean w_r of false
        and of true negatives over stretches of steps and over seeds, `step` the last of a
        stretch), `premises` (as in the table given, at the last step). What is lacking has the
        status `not run`.

    Raises:
        DataError: as `poolbias.probe.case`.
    """
    rows: list[dict[str, Any]] = []
    for method in methods:
        own = sorted((t for t in trainings if t.method == method), key=lambda t: t.seed)
        if not own:
            rows += [
                {"panel": panel, "method": method, "status": NOT_RUN}
                for panel in (CASE, TRAINING, PREMISES)
            ]
            continue
        rows += _case(own[0], texts, depth, query)
        rows += _training(own)
        rows += _premises(premises[premises["method"] == method])
    for row in paper[paper["place"] == "Section 6.5"].to_dict("records"):
        told = {"panel": CASE, "source": "paper", "name": row["measure"], "status": row["status"]}
        note = f"{row['collection']}, {row['system']}: {row['note']}"
        rows.append(told | {"value": float(row["value"]), "note": note})
    frame = pd.DataFrame(rows, columns=COLUMNS)
    frame = frame.astype(dict.fromkeys(COUNTS, "Int64") | dict.fromkeys(NUMBERS, "float64"))
    words = [column for column in COLUMNS if column not in NUMBERS + COUNTS]
    return frame.fillna(dict.fromkeys(words, ""))


def read_training(path: Path | str) -> pd.DataFrame:
    """Read what `training.tsv` tells of w_r.

    Returns:
        Columns `step` (int64), and `w_r_false_negatives_mean` and `w_r_true_negatives_mean`
        (float64) where the file has them.

    Raises:
        DataError: naming the file if the steps are missing or something is not a number.
    """
    frame = read_table(path, ["step"])
    columns = [_column(kind) for kind in KINDS if _column(kind) in frame]
    try:
        numbers = frame[columns].where(frame[columns] != "").astype("float64")
        return numbers.assign(step=frame["step"].astype("int64"))
    except ValueError as error:
        raise DataError(f"{path}: {error}; train this ranker again.") from error


def _column(kind: str) -> str:
    return f"w_r_{kind}_negatives_mean"


def _case(
    training: Coupled, texts: Mapping[str, str], depth: int, query: str | None
) -> list[dict[str, Any]]:
    last = training.probed[training.probed["step"] == training.probed["step"].max()]
    shown = query or probe.case(last, depth)
    chosen = training.probed[training.probed["query_id"] == shown]
    columns = ["step", "query_id", "document_id", "rank", *probe.FACTS]
    about: dict[str, Any] = {"panel": CASE, "method": training.method, "name": "w_r"}
    about |= {"source": "ours"} | {"note": texts.get(shown, ""), "seed": training.seed}
    rows = []
    for row in chosen.sort_values(["step", "rank"]).to_dict("records"):
        at_top = pd.notna(row["rank"]) and row["rank"] <= depth
        status = TOP if at_top else PAIRED
        told = {name: row[name] for name in columns} | {"value": row["w_r"], "status": status}
        rows.append(about | told)
    return rows


def _training(trainings: Sequence[Coupled]) -> list[dict[str, Any]]:
    about = {"panel": TRAINING, "method": trainings[0].method, "measure": "w_r", "source": "ours"}
    rows: list[dict[str, Any]] = []
    for kind, name in KINDS.items():
        column = _column(kind)
        if any(column not in training.training for training in trainings):
            note = "the truth of training queries is not known"
            rows.append(about | {"name": name, "status": NOT_RUN, "note": note})
            continue
        steps = pd.concat([training.training[["step", column]] for training in trainings])
        by_step = steps.groupby("step")[column].mean().dropna()
        stretches = np.array_split(np.arange(len(by_step)), min(WINDOWS, len(by_step)))
        for part in stretches:
            at = {"step": int(by_step.index[part[-1]]), "value": float(by_step.iloc[part].mean())}
            rows.append(about | {"name": name, "status": "mean", "seeds": len(trainings)} | at)
    return rows


def _premises(premises: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of the last step, as they are, in the columns of the figure."""
    last = premises[premises["step"] == premises["step"].max()]
    names = [
        "retriever",
        "pool",
        "method",
        "source",
        "statement",
        "among",
        "measure",
        "status",
        "step",
    ]
    names += ["low", "high", "queries", "left_out", "groups", "seeds"]
    return [
        {"panel": PREMISES, "name": row["premise"], "value": row["mean"]}
        | {name: row[name] for name in names}
        for row in last.to_dict("records")
    ]
