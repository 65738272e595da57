"""From the numbers of a table to its cells, the same way for every table of methods or rankers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from poolbias.tables.paper import Paper
from poolbias.tables.render import Cell, Heading, Line, Section, Table
from poolbias.tables.results import DIFFERENT, Column, Entries
from poolbias.tables.rows import NEED_TRUTH, Row

CHOSEN = "°"
_TEXTS = {"setting": "method"}
_NAMES = {"RR": "MRR", "R": "Recall", "Success": "Recall"}


@dataclass(frozen=True)
class Layout:
    """What the two tables of a page share: rows, columns, and what stands beside them.

    Attributes:
        label: short name, such as `table_1`.
        rows: rows in order.
        columns: columns of numbers.
        entries: the numbers.
        paper: the paper's table.
        systems: per row the paper's system beside it.
        texts: fields of a row that name it.
        bold: whether the highest value of a column is bold.
    """

    label: str
    rows: Sequence[Row]
    columns: Sequence[Column]
    entries: Entries
    paper: Paper
    systems: Mapping[Row, str]
    texts: tuple[str, ...]
    bold: bool

    def means(self, caption: str, notes: Sequence[str]) -> Table:
        """Return the table of means with marks, the paper's values in columns of their own."""
        best = self._best() if self.bold else {}
        headings = (*self._names(), *_headings(self.columns), *self.paper.headings())

        def cells(row: Row) -> tuple[Cell, ...]:
            system = self.systems.get(row, "")
            beside = self.paper.cells(system, row.collection)
            if row.reason:
                return *_not_run(row, len(self.columns)), *beside
            return *(self._mean(row, column, best) for column in self.columns), *beside

        return Table(
            self.label, caption, headings, self._sections(cells), len(self.texts), tuple(notes)
        )

    def differences(self, caption: str, notes: Sequence[str]) -> Table:
        """Return the table of differences, with intervals and what could have been seen."""

        def cells(row: Row) -> tuple[Cell, ...]:
            if row.reason:
                return _not_run(row, len(self.columns))
            return tuple(self._difference(row, column) for column in self.columns)

        headings = (*self._names(), *_headings(self.columns))
        label = f"{self.label}_differences"
        sections = self._sections(cells)
        return Table(label, caption, headings, sections, len(self.texts), tuple(notes))

    def _names(self) -> tuple[Heading, ...]:
        return tuple(Heading(_TEXTS.get(name, name)) for name in self.texts)

    def _sections(self, cells: Callable[[Row], tuple[Cell, ...]]) -> tuple[Section, ...]:
        blocks = [(block, list(rows)) for block, rows in groupby(self.rows, lambda r: r.block)]
        sections = []
        for (collection, pool), rows in blocks:
            lines, last = [], None
            for row in rows:
                texts = (_text(row, name) for name in self.texts)
                lines.append(Line((*texts, *cells(row)), rule=row.place != last))
                last = row.place
            title = f"{collection}, pool {pool}" if len(blocks) > 1 else ""
            sections.append(Section(title, tuple(lines)))
        return tuple(sections)

    def _best(self) -> dict[tuple[tuple[str, str], Column], str]:
        """Return the highest value of each block and column as it is printed."""
        best: dict[tuple[tuple[str, str], Column], str] = {}
        for (row, column), entry in self.entries.items():
            if row.name not in NEED_TRUTH:
                key = (row.block, column)
                best[key] = max(best.get(key, "0"), value(entry.mean.mean), key=float)
        return best

    def _mean(
        self, row: Row, column: Column, best: Mapping[tuple[tuple[str, str], Column], str]
    ) -> Cell:
        entry = self.entries[row, column]
        text = value(entry.mean.mean)
        marks = "".join(one.earned for one in entry.findings if one.mark != DIFFERENT)
        bold = row.name not in NEED_TRUTH and text == best.get((row.block, column))
        return Cell(text, bold, marks)

    def _difference(self, row: Row, column: Column) -> Cell:
        for one in self.entries[row, column].findings:
            if one.mark == DIFFERENT:
                low, high = signed(one.found.low), signed(one.found.high)
                seen = value(one.found.smallest_detectable)
                text = f"{signed(one.found.difference)} [{low}, {high}] ({seen})"
                return Cell(text, marks=one.earned)
        return Cell("–")


def value(number: float) -> str:
    """Return a number of a table with four decimals; `–` for none."""
    return "–" if number != number else f"{number:.4f}"


def signed(number: float) -> str:
    """Return a difference with its sign and four decimals."""
    return f"{number:+.4f}".replace("-", "−")


def heading(column: Column) -> Heading:
    """Return a column's heading for people: `MRR@10` by labels."""
    name, _, cut = column.measure.partition("@")
    return Heading(f"{_NAMES.get(name, name)}@{cut}", f"by {column.judgements}")


def beside(
    paper: Paper, rows: Sequence[Row], rest: Callable[[Row], str], strong: str
) -> dict[Row, str]:
    """Return the paper's system beside each row, each system once: beside the first that fits.

    Args:
        paper: the paper's table.
        rows: rows in order.
        rest: what follows the retriever in the paper's name of a row's system.
        strong: our retriever beside which the paper's stronger one stands.
    """
    found: dict[Row, str] = {}
    seen: set[tuple[str, str]] = set()
    for row in rows:
        system = paper.system(row.retriever, rest(row), strong)
        key = (row.collection if paper.same else "", system)
        if system and key not in seen:
            found[row] = system
            seen.add(key)
    return found


def _text(row: Row, name: str) -> Cell:
    marked = CHOSEN if name == "setting" and row.chosen else ""
    return Cell(str(getattr(row, name)), marks=marked)


def _headings(columns: Sequence[Column]) -> tuple[Heading, ...]:
    return tuple(heading(column) for column in columns)


def _not_run(row: Row, width: int) -> tuple[Cell, ...]:
    return (Cell(f"not run ({row.reason})", span=width),) if width else ()
