"""What every table of methods or rankers is made from and made into: a page of two tables."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from typing import Any

import pandas as pd

from poolbias.evaluation.per_query import read_queries, read_systems
from poolbias.files import write_text
from poolbias.formats.tsv import read_table, write_table
from poolbias.tables import notes, paper, render
from poolbias.tables.layout import Layout, beside
from poolbias.tables.results import Column, Opponents, Results, fill, of_naive, to_frame
from poolbias.tables.rows import Row, held, strong

RESAMPLES = 2000


@dataclass(frozen=True)
class Source:
    """What a table is made from.

    Attributes:
        frame: what `read_systems` returns.
        paper: the paper's values, columns of `config/paper_tables.tsv`.
        study: name of the study.
        split: the queries that it is about.
        ranker: the ranker of tables of methods.
        lexical: retrievers that are BM25.
        reason: why rows that the study does not hold were not run.
        options: all parameters of a table, its own among them.
    """

    frame: pd.DataFrame
    paper: pd.DataFrame
    study: str
    split: str
    ranker: str
    lexical: tuple[str, ...]
    reason: str
    options: Mapping[str, Any]

    @property
    def collections(self) -> list[str]:
        """Names of the study's collections."""
        return [str(name) for name in self.frame["collection"].unique()]

    @property
    def rows(self) -> list[Row]:
        """Every system that was read."""
        return held(self.frame, self.options["changed"], set(self.options["chosen"]))


@dataclass(frozen=True)
class Page:
    """A table as it is written.

    Attributes:
        data: its numbers.
        tables: what is shown of them.
        systems: the paper's system beside a row.
    """

    data: pd.DataFrame
    tables: tuple[render.Table, ...]
    systems: Mapping[Row, str]


@dataclass(frozen=True)
class Plan:
    """What is in a table.

    Attributes:
        label: `table_1` for the paper's Table 1.
        caption: what the table is about.
        rows: rows in order.
        columns: columns; those that no row was measured in are left out, which a note tells.
        texts: fields of a row that name it.
        against: what rows are tested against, for people.
        opponents: as in `poolbias.tables.results.fill`.
        marks: marks by the method that they are about.
        rest: what follows the retriever in the paper's name of a row's system.
        bold: whether the highest value of a column is bold.
        notes: notes of this table alone.
    """

    label: str
    caption: str
    rows: Sequence[Row]
    columns: Sequence[Column]
    texts: tuple[str, ...] = ("retriever", "setting")
    against: str = "naive on the same run"
    opponents: Opponents = of_naive
    marks: Mapping[str, str] = field(default_factory=dict)
    rest: Callable[[Row], str] = attrgetter("name")
    bold: bool = True
    notes: tuple[str, ...] = ()


def read(
    parameters: Mapping[str, Any],
    systems: Sequence[Mapping[str, Any]],
    queries: Sequence[Path],
    paper_tables: Path,
) -> Source:
    """Read what a table is made from.

    Args:
        parameters: `study`, `split`, `ranker`, `lexical`, `reason`, `collections` (a name per file
            of queries), `changed` and `chosen` (as in `poolbias.tables.rows.held`) and its own.
        systems: per-query files: what each is of, and its `path`.
        queries: files of queries with their groups.
        paper_tables: `config/paper_tables.tsv`.

    Raises:
        ConfigError: if files and their descriptions do not fit.
        DataError: as `read_systems`.
    """
    own = ("study", "split", "ranker", "reason")
    frame = read_systems(
        [system["path"] for system in systems],
        systems,
        read_queries(queries, parameters["collections"]),
    )
    return Source(
        frame,
        read_table(paper_tables, paper.COLUMNS),
        **{name: str(parameters[name]) for name in own},
        lexical=tuple(parameters["lexical"]),
        options=parameters,
    )


def write(page: Page, markdown: Path, latex: Path, table: Path) -> None:
    """Write a page as Markdown, LaTeX and the table of its numbers, each whole or not at all."""
    write_table(table, page.data, floats="%.8g")
    with write_text(markdown) as text:
        text.write(render.markdown(page.tables))
    with write_text(latex) as text:
        text.write(render.latex(page.tables))


def build(source: Source, plan: Plan) -> Page:
    """Return a page: the means of rows in columns, and their differences to their opponents.

    Args:
        source: what the table is made from.
        plan: what is in it.

    Raises:
        DataError: if a system lacks a measure or query that others have.
    """
    results = Results(source.frame)
    place = plan.label.replace("_", " ").capitalize()
    printed = paper.read_paper(source.paper, place, source.collections, source.split)
    shown = results.measured(plan.rows, plan.columns)
    entries = fill(results, plan.rows, shown, plan.opponents, resamples=RESAMPLES)
    stronger = strong(source.rows, source.lexical)
    systems = beside(printed, plan.rows, plan.rest, stronger)
    layout = Layout(
        plan.label,
        plan.rows,
        shown,
        entries,
        printed,
        systems,
        plan.texts,
        plan.bold,
    )
    lacking = [column for column in plan.columns if column not in shown]
    told = [
        *notes.of_queries(entries, source.split),
        *plan.notes,
        *(notes.BOLD if plan.bold else ()),
        *notes.of_marks(entries, plan.marks),
        *notes.of_chosen(plan.rows),
        *notes.of_columns(lacking),
        *notes.of_rows(plan.rows, plan.label),
        notes.of_paper(printed),
    ]
    tables = (
        layout.means(f"{place}. {plan.caption}", told),
        layout.differences(
            f"{place}, differences to {plan.against}",
            list(notes.of_differences(entries, plan.against)),
        ),
    )
    return Page(to_frame(entries, plan.rows, shown, printed), tables, systems)
