"""The tables that a run of the benchmark prints and writes."""

from pathlib import Path

import pandas as pd

from benchmarks.setting import Outcome
from benchmarks.timing import Ratio
from poolbias.files import write_text
from poolbias.formats.tsv import write_table

TITLES = {"growth": "Growth", "startup": "Start-up of the scripts", "workflow": "Snakemake itself"}


def frame(ratios: list[Ratio]) -> pd.DataFrame:
    """Return columns name, median, low, high, target, reached and note; empty where unasked."""
    rows = [(r.name, r.median, r.low, r.high, r.target, _yes(r.reached), r.note) for r in ratios]
    return pd.DataFrame(
        rows, columns=["name", "median", "low", "high", "target", "reached", "note"]
    )


def page(outcome: Outcome, told: list[str]) -> str:
    """Return everything as Markdown, after the sentences `told`."""
    parts = ["# Performance", *told]
    if outcome.ratios:
        parts += ["## Ratios", _markdown(_for_people(frame(outcome.ratios)))]
    for name, table in outcome.tables.items():
        parts += [f"## {TITLES[name]}", _markdown(_for_people(table))]
    return "\n\n".join(parts) + "\n"


def write(folder: Path, outcome: Outcome, told: list[str]) -> None:
    """Write `ratios.md`, `ratios.tsv` and the other tables to a folder."""
    with write_text(folder / "ratios.md") as text:
        text.write(page(outcome, told))
    for name, table in ({"ratios": frame(outcome.ratios)} | outcome.tables).items():
        write_table(folder / f"{name}.tsv", table, floats="%.6g")


def _yes(value: bool | None) -> str:
    return "" if value is None else "yes" if value else "no"


def _for_people(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table's cells as text, numbers with three digits."""

    def cell(value: object) -> str:
        if isinstance(value, bool):
            return _yes(value)
        if isinstance(value, float):
            return "" if pd.isna(value) else f"{value:.3g}"
        return "" if value is None else str(value)

    return pd.DataFrame({name: [cell(value) for value in table[name]] for name in table})


def _markdown(table: pd.DataFrame) -> str:
    lines = [" | ".join(table.columns), " | ".join("---" for _ in table.columns)]
    lines += [" | ".join(row) for row in table.itertuples(index=False)]
    return "\n".join(f"| {line} |" for line in lines)
