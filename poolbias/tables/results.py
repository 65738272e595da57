"""The numbers of a table: a mean per row and column, and tests of the differences between rows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd

from poolbias.errors import DataError
from poolbias.evaluation.means import Mean, mean
from poolbias.evaluation.significance import LEVEL, Comparison, compare, holm
from poolbias.tables.paper import Paper, spelled
from poolbias.tables.rows import CET, NAIVE, Row

LABELS, TRUTH = "labels", "truth"
DIFFERENT = "*"  # marks a difference of either sign
DATA = [
    *("source", "collection", "pool", "retriever", "method", "options", "changed", "chosen"),
    *("ranker", "experiment"),
    *("judgements", "measure", "status", "mean", "low", "high", "queries", "groups", "seeds"),
    *("against", "difference", "difference_low", "difference_high", "p_t", "p_randomisation"),
    *("p_t_holm", "p_randomisation_holm", "smallest_detectable", "mark"),
]


@dataclass(frozen=True)
class Column:
    """A column of numbers: a measure as ir-measures spells it, and what it is judged by."""

    measure: str
    judgements: str


@dataclass
class Finding:
    """One row against another in one column; `mark` is shown where the test finds a difference."""

    mark: str
    against: Row
    found: Comparison
    t_holm: float = 1.0
    randomisation_holm: float = 1.0

    @property
    def earned(self) -> str:
        """The mark, if both adjusted tests are below the level and the interval is off 0.

        The tests do not hold how trainings vary from seed to seed, the interval does (our choice;
        the paper says p < .05). Marks but `*` are for the better row alone.
        """
        sure = max(self.t_holm, self.randomisation_holm) < LEVEL
        off = self.found.low > 0 or (self.found.high < 0 and self.mark == DIFFERENT)
        return self.mark if sure and off else ""


@dataclass
class Entry:
    """The numbers of one row in one column."""

    mean: Mean
    findings: list[Finding] = field(default_factory=list)


Entries = Mapping[tuple[Row, Column], Entry]
Opponents = Callable[[Row, Column, Entries], list[tuple[str, Row]]]


def of_naive(row: Row, column: Column, entries: Entries) -> list[tuple[str, Row]]:
    """Return the naive ranker beside a row, with the mark `*`; nothing beside itself.

    It is the one that was trained with the same settings, otherwise the study's first.
    """
    naive = [other for other in _beside(row, column, entries) if other.name == NAIVE]
    found = next(iter(_alike(row, naive)), row)
    return [(DIFFERENT, found)] if found != row else []


def of_marks(marks: Mapping[str, str]) -> Opponents:
    """Return a choice of opponents: naive, and for rows of CET the methods of `marks` too.

    Of a method with several settings it is the one chosen on dev, otherwise, of those trained like
    the row or else like the study's first, the one with the highest mean in the column (our choice;
    the paper has one setting of each).

    Args:
        marks: mark by method (`{"dml": "†"}`).
    """

    def opponents(row: Row, column: Column, entries: Entries) -> list[tuple[str, Row]]:
        found = of_naive(row, column, entries)
        for name, mark in marks.items() if row.name == CET else ():
            beside = [other for other in _beside(row, column, entries) if other.name == name]
            settings = [other for other in beside if other.chosen] or _alike(row, beside)
            if settings:
                best = max(settings, key=lambda other: entries[other, column].mean.mean)
                found.append((mark, best))
        return found

    return opponents


def of_first(row: Row, column: Column, entries: Entries) -> list[tuple[str, Row]]:
    """Return the first row of a row's block, with the mark `*`; nothing beside itself."""
    first = next(other for other, where in entries if other.block == row.block and where == column)
    return [(DIFFERENT, first)] if first != row else []


class Results:
    """Values of systems by row and column.

    Args:
        frame: what `poolbias.evaluation.per_query.read_systems` returns.
    """

    def __init__(self, frame: pd.DataFrame) -> None:
        names = ["collection", "pool", "retriever", "name", "method", "ranker", "experiment"]
        keys = [*names, "judgements", "measure"]
        columns = ["query_id", "group", "seed", "value"]
        self._values = {
            tuple(str(part) for part in key): rows[columns]
            for key, rows in frame.groupby(keys, sort=False, observed=True)
        }

    def values(self, row: Row, column: Column) -> pd.DataFrame:
        """Return `query_id`, `group`, `seed`, `value` of one row in one column.

        Raises:
            DataError: if this system was not measured so.
        """
        key = _key(row, column)
        if key not in self._values:
            raise DataError(
                f"{row.retriever} {row.setting}, {row.experiment}, has no {column.measure} by "
                f"{column.judgements}, which other systems of the table have; evaluate it with "
                "this measure."
            )
        return self._values[key]

    def measured(self, rows: Sequence[Row], columns: Sequence[Column]) -> list[Column]:
        """Return the columns that at least one of the rows was measured in."""
        return [
            column for column in columns if any(_key(row, column) in self._values for row in rows)
        ]


def fill(
    results: Results,
    rows: Sequence[Row],
    columns: Sequence[Column],
    opponents: Opponents,
    *,
    resamples: int = 2000,
) -> dict[tuple[Row, Column], Entry]:
    """Return means and tests of every row that was run, in every column.

    Holm's rule takes all tests of the table as one family, for each of the two kinds of test.

    Args:
        results: the values.
        rows: rows of the table; those not run are passed over.
        columns: columns that all rows were measured in.
        opponents: what a row is tested against in a column, each with its mark; it is given the
            entries of all rows that were run.
        resamples: as in `compare`.

    Raises:
        DataError: as `Results.values` and `compare`.
    """
    entries = {
        (row, column): Entry(mean(results.values(row, column), resamples=resamples))
        for column in columns
        for row in rows
        if not row.reason
    }
    for (row, column), entry in entries.items():
        for mark, against in opponents(row, column, entries):
            found = compare(
                results.values(row, column),
                results.values(against, column),
                resamples=resamples,
                names=(f"{row.retriever} {row.setting}", f"{against.retriever} {against.setting}"),
            )
            entry.findings.append(Finding(mark, against, found))
    findings = [one for entry in entries.values() for one in entry.findings]
    together = holm([one.found.p_t for one in findings])
    for finding, adjusted in zip(findings, together, strict=True):
        finding.t_holm = float(adjusted)
    together = holm([one.found.p_randomisation for one in findings])
    for finding, adjusted in zip(findings, together, strict=True):
        finding.randomisation_holm = float(adjusted)
    return entries


def to_frame(
    entries: Entries,
    rows: Sequence[Row],
    columns: Sequence[Column],
    paper: Paper,
) -> pd.DataFrame:
    """Return the table behind a table, columns `DATA`, with all its numbers.

    A row per system, column and test; `against` and what follows is empty without a test. A system
    that was not run has a row per column whose status says why. The paper's values that the table
    shows follow with the source `paper`, under the paper's own names and marks.
    """
    told: list[dict[str, object]] = []
    for row in rows:
        about = {
            "source": "ours",
            **{name: getattr(row, name) for name in ("collection", "pool", "retriever")},
            "method": row.name,
            "options": row.options,
            "changed": row.changed,
            "chosen": "yes" if row.chosen else "no",
            "ranker": row.ranker,
            "experiment": row.experiment,
        }
        for column in columns:
            where = {"judgements": column.judgements, "measure": column.measure}
            entry = entries.get((row, column))
            if entry is None:
                told.append({**about, **where, "status": f"not run ({row.reason})"})
                continue
            numbers = {**about, **where, "status": "mean", **entry.mean._asdict()}
            told += [numbers | _told(finding) for finding in entry.findings] or [numbers]
    told += _of_paper(paper)
    frame = pd.DataFrame(told, columns=DATA)
    return frame.astype(dict.fromkeys(("queries", "groups", "seeds"), "Int64"))


def _of_paper(paper: Paper) -> list[dict[str, object]]:
    rows = []
    for (collection, measure, system), (number, _) in paper.values.items():
        retriever, method, ranker = [*system.split(), "", ""][:3]
        about = {"source": "paper", "collection": collection, "retriever": retriever}
        names = {"method": method, "ranker": ranker, "measure": spelled(measure)}
        mark = paper.cell(collection, measure, system).marks
        printed = {"status": "printed", "mean": float(number), "mark": mark}
        rows.append({**about, **names, **printed})
    return rows


def _told(finding: Finding) -> dict[str, object]:
    return {
        "against": f"{finding.against.retriever} {finding.against.setting}",
        "difference": finding.found.difference,
        "difference_low": finding.found.low,
        "difference_high": finding.found.high,
        "p_t": finding.found.p_t,
        "p_randomisation": finding.found.p_randomisation,
        "p_t_holm": finding.t_holm,
        "p_randomisation_holm": finding.randomisation_holm,
        "smallest_detectable": finding.found.smallest_detectable,
        "mark": finding.earned,
    }


def _beside(row: Row, column: Column, entries: Entries) -> list[Row]:
    return [other for other, where in entries if where == column and other.place == row.place]


def _alike(row: Row, others: Sequence[Row]) -> list[Row]:
    """Return those trained with a row's settings; if there are none, with those of the first."""
    changed = {other.changed for other in others}
    settings = row.changed if row.changed in changed else others[0].changed if others else ""
    return [other for other in others if other.changed == settings]


def _key(row: Row, column: Column) -> tuple[str, ...]:
    names = (row.collection, row.pool, row.retriever, row.name, row.method, row.ranker)
    return (*names, row.experiment, column.judgements, column.measure)
