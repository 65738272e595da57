"""What the report says of each figure and table: a title, and what there is to see."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup

from poolbias.formats.tsv import read_table
from poolbias.report.cells import Table, plain, wide
from poolbias.report.svg import inline
from poolbias.report.witnesses import Link, Witnesses

_FIGURES = {
    "figure_1": (
        "Figure 1. Retrievers, and naive rankers trained and tested on them",
        "Bars: the recall of each retriever, and the MRR@10 of its naive ranker, by truth and by "
        "labels; the paper's values below; at the right the share of false negatives by depth.",
    ),
    "figure_3": (
        "Figure 3. Rankers trained with and without CET",
        "Bars in pairs: each retriever's ranker without and with CET, a panel per measure.",
    ),
    "figure_4": (
        "Figure 4. How much τ and η matter",
        "Lines: MRR@10 over the values of CET's τ at the left, of RocketQA's η at the right, with "
        "the naive ranker as reference; both with the same vertical range.",
    ),
    "figure_5": (
        "Figure 5. The weights of CET against relevance",
        "Points: the weight of each document at the top of one query's run, relevant or not; "
        "lines: mean weights of false and true negatives over training; bars: means over queries.",
    ),
}
_TABLES = {
    "table_1": "Table 1. Methods, by labels and by truth",
    "table_2": "Table 2. Recall of the runs",
    "table_3": "Table 3. The shape of the paper's table on DuReader_retrieval",
    "table_4": "Table 4. Rankers without and with CET",
    "table_filters": "Filters: what they keep, and which false negatives they find",
    "table_sieve": "The passage sieve",
}
_PRINTED = ["collection", "retriever", "method", "ranker", "measure", "mean", "mark"]
_LONG = ("judgements", "measure", "mean", "status", "experiment", "options")


@dataclass(frozen=True)
class Shown:
    """A figure or a table of the study on the page."""

    name: str
    title: str
    description: str
    tables: list[Table]
    links: list[Link]
    svg: Markup = field(default_factory=Markup)

    @property
    def anchor(self) -> str:
        """The page's anchor of it."""
        return self.name.replace("_", "-")


def figure(svg: Path, data: Path, witnesses: Witnesses, study: str) -> Shown:
    """Return a figure: its drawing, the table behind it, and links to its files.

    Raises:
        DataError: if a file cannot be read.
    """
    name = svg.stem
    title, description = _FIGURES.get(name, (_title(name), "A figure of this study."))
    drawn = Markup(inline(svg, name.replace("_", "-"), title, description))
    table = plain(f"data-{name}", f"The numbers behind {title.partition('.')[0]}", _read(data))
    return Shown(name, title, description, [table], _links(svg, witnesses, study), drawn)


def table(data: Path, witnesses: Witnesses, study: str) -> Shown:
    """Return a table: ours with each number's files, the paper's values as printed, its files.

    Raises:
        DataError: if the file cannot be read.
    """
    name, frame = data.stem, _read(data)
    title = _TABLES.get(name, _title(name))
    tables = [plain(name, title, frame)]
    if set(_LONG) <= set(frame):
        ours, printed = frame[frame["source"] == "ours"], frame[frame["source"] == "paper"]
        tables = [wide(name, title, ours, witnesses, _label)]
        printed = printed[_PRINTED] if len(printed) else printed[[]]
    elif "truth_mean" in frame:
        tables = [wide(name, title, _of_runs(frame), witnesses)]
        printed = frame[[c for c in frame if c == "retriever" or str(c).startswith("paper ")]]
    else:
        printed = frame[[]]
    if len(printed.columns) > 1:
        tables.append(plain(f"{name}-paper", f"{title}: the paper's values", printed))
    return Shown(name, title, "", tables, _links(data, witnesses, study))


def _of_runs(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table of runs, which has both judgements side by side, with a row for each."""
    shared = ["collection", "pool", "retriever", "measure", "status"]
    parts = []
    for judgements in ("labels", "truth"):
        names = {f"{judgements}_{n}": n for n in ("mean", "low", "high", "queries", "mark")}
        part = frame[[*shared, *names]].rename(columns=names)
        parts.append(part.assign(judgements=judgements))
    run = {"experiment": "run", "method": "run", "ranker": "-", "seeds": ""}
    return pd.concat(parts, ignore_index=True).assign(**run)


def _label(row: Any) -> str:
    """Return a method with its options as systems are named."""
    return f"{row['method']}-{row['options']}" if row["options"] else str(row["method"])


def _read(path: Path) -> pd.DataFrame:
    return read_table(path, [])


def _title(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _links(path: Path, witnesses: Witnesses, study: str) -> list[Link]:
    endings = ("pdf", "svg", "png", "tsv", "md", "tex", "manifest.json")
    links = [
        link
        for ending in endings
        for link in witnesses.link(ending, path.with_name(f"{path.stem}.{ending}"))
    ]
    return [*links, *witnesses.link("log", f"results/logs/{path.stem}/{study}.log")]
