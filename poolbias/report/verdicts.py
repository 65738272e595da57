"""The claims of a study for the report: an overview, then each claim with its rows."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from poolbias.claims.render import claimed, counts, number
from poolbias.claims.verdict import NOT_RUN, VERDICTS
from poolbias.report.cells import Cell, Table, of_number
from poolbias.report.witnesses import Link, Witnesses

_SIGNS = dict(zip(VERDICTS, ("✓", "✗", "?", "–"), strict=True))
_HEADINGS = [
    *("collection", "measure", "systems", "verdict", "effect [95%]", "p, Holm", "detectable"),
    *("seeds", "queries", "groups", "paper"),
]


@dataclass(frozen=True)
class Claim:
    """One claim: its words, how often each verdict stands, what was run and what was not."""

    name: str
    sentence: str
    about: str
    counts: Mapping[str, int]
    run: Table
    lacking: Table


def read_types(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the columns of `poolbias.claims.build.COLUMNS`, read as text, with numbers as such."""
    numbers = ["effect", "low", "high", "p_holm", "smallest_detectable", "threshold"]
    wholes = ["seeds", "queries", "groups"]
    typed = frame.copy()
    for column in numbers + wholes:
        typed[column] = pd.to_numeric(typed[column].where(typed[column] != ""))
    return typed.astype(dict.fromkeys(numbers, "float64") | dict.fromkeys(wholes, "Int64"))


def overview(frame: pd.DataFrame) -> Table:
    """Return how often each verdict stands for each claim, columns as `read_types` returns."""
    sentences = dict(zip(frame["claim"], frame["sentence"], strict=True))
    sources = dict(zip(frame["claim"], frame["source"], strict=True))
    table = Table("verdicts", "Claims and their verdicts", ["claim", "from", *VERDICTS])
    for name, row in counts(frame).iterrows():
        cells = [Cell(sentences[str(name)], f"#claim-{name}", sentences[str(name)].lower())]
        cells.append(Cell(sources[str(name)], key=sources[str(name)].lower()))
        for verdict in VERDICTS:
            shown = f"{_SIGNS[verdict]} {row[verdict]}" if row[verdict] else "0"
            kind = f"number {style(verdict)}" if row[verdict] else "number"
            cells.append(Cell(shown, key=str(row[verdict]), kind=kind))
        table.rows.append(cells)
    return table


def claims(frame: pd.DataFrame, witnesses: Witnesses) -> list[Claim]:
    """Return every claim with its rows, columns as `read_types` returns."""
    found = []
    stand = counts(frame).to_dict("index")
    for name, rows in frame.groupby("claim", sort=False):
        first = rows.iloc[0].to_dict()
        note = f" {first['note']}" if first["note"] else ""
        about = f"From: {first['source']}. Claimed: {claimed(first)}.{note}"
        lacking = rows["verdict"] == NOT_RUN
        found.append(
            Claim(
                str(name),
                str(first["sentence"]),
                about,
                {verdict: int(stand[name][verdict]) for verdict in VERDICTS},
                _run(str(name), rows[~lacking], witnesses),
                _lacking(str(name), rows[lacking]),
            )
        )
    return found


def style(verdict: str) -> str:
    """Return the style sheet's class of a verdict."""
    return f"verdict {verdict.replace(' ', '-')}"


def _run(name: str, rows: pd.DataFrame, witnesses: Witnesses) -> Table:
    table = Table(f"run-{name}", f"Checked: {name}", _HEADINGS, heads=2)
    table.rows = [_cells(row, witnesses) for row in rows.to_dict("records")]
    return table


def _cells(row: Mapping[Any, Any], witnesses: Witnesses) -> list[Cell]:
    sources = [source for source in str(row["sources"]).split("; ") if source]
    links = tuple(_source_links(sources, witnesses))
    href = links[0].href if links else "#figures"
    place = ", ".join(str(row[key]) for key in ("retriever", "ranker") if row[key] != "-")
    pool = f"pool {row['pool']}" if row["pool"] != "-" else ""
    ends = f"[{number(row['low'])}, {number(row['high'])}]"
    verdict = str(row["verdict"])
    return [
        Cell(str(row["collection"]), key=str(row["collection"]), below=pool),
        Cell(f"{row['measure']} by {row['judgements']}", key=str(row["measure"]).lower()),
        Cell(str(row["systems"]), key=str(row["systems"]).lower(), below=place, links=links),
        Cell(
            f"{_SIGNS[verdict]} {verdict}",
            key=str(VERDICTS.index(verdict)),
            below=str(row["reason"]),
            kind=style(verdict),
        ),
        of_number(row["effect"], href, ends, signed=True),
        of_number(row["p_holm"], href),
        of_number(row["smallest_detectable"], href),
        *(
            Cell("–" if pd.isna(row[key]) else str(row[key]), key=str(row[key]), kind="number")
            for key in ("seeds", "queries", "groups")
        ),
        Cell(str(row["paper"]) or "–", key=str(row["paper"]), kind="number"),
    ]


def _source_links(sources: Sequence[str], witnesses: Witnesses) -> Iterator[Link]:
    """Yield links to the files of systems, named by method, and further where methods are alike."""
    parts = [source.split("/", 4) for source in sources]  # a method's options hold no `/`
    methods = [method for *_, method in parts]
    for source, (_, _, pool, retriever, method) in zip(sources, parts, strict=True):
        if anchor := witnesses.anchor(source):
            alone = methods.count(method) == 1
            yield Link(method if alone else f"{method} ({retriever}, pool {pool})", anchor)


def _lacking(name: str, rows: pd.DataFrame) -> Table:
    headings = ["collection", "measure", "systems", "reason", "paper"]
    table = Table(f"lacking-{name}", f"Not run: {name}", headings, heads=2)
    for row in rows.to_dict("records"):
        ranker = "" if row["ranker"] == "-" else str(row["ranker"])
        texts = [row["collection"], f"{row['measure']} by {row['judgements']}", row["systems"]]
        cells = [Cell(str(text), key=str(text).lower()) for text in [*texts, row["reason"]]]
        cells[2] = Cell(cells[2].text, key=cells[2].key, below=ranker)
        table.rows.append([*cells, Cell(row["paper"] or "–", key=row["paper"], kind="number")])
    return table
