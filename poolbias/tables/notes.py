"""What stands below a table: what its numbers rest on, what its marks mean, what is not there."""

from collections.abc import Iterator, Mapping, Sequence

from poolbias.tables.layout import CHOSEN, heading
from poolbias.tables.paper import Paper
from poolbias.tables.results import DIFFERENT, Column, Entries
from poolbias.tables.rows import CET, NEED_TRUTH, RUN, Row

BOLD = (
    "Bold: the highest value of a column, leaving aside the methods that need the truth "
    f"({', '.join(NEED_TRUTH)}).",
)
SETTINGS = "Rows: every setting of a method that the study holds, of one ranker on one run."
_TEST = (
    "p < .05 after Holm's rule over all {count} tests of this table, both in the two-sided paired "
    "t-test over queries and in the randomisation test over groups of queries, and a 95% interval "
    "without 0 from groups and seeds"
)


def of_queries(entries: Entries, split: str) -> Iterator[str]:
    """Yield how many queries and groups each block rests on, and how many seeds its rows."""
    blocks = dict.fromkeys(row.block for row, _ in entries)
    for block in blocks:
        counts = dict.fromkeys(
            f"by {column.judgements} {entry.mean.queries} queries of {entry.mean.groups} groups"
            for (row, column), entry in entries.items()
            if row.block == block
        )
        where = f"{block[0]}, pool {block[1]}, " if len(blocks) > 1 else ""
        yield f"{where}split {split}: {', '.join(counts)}."
    seeds = sorted({e.mean.seeds for (row, _), e in entries.items() if row.name != RUN})
    if seeds:
        between = dict.fromkeys((seeds[0], seeds[-1]))
        yield f"Seeds of a row: {' to '.join(str(number) for number in between)}."
    if 1 in seeds:
        yield (
            "A row of one seed is one training: its intervals and tests hold how queries vary, not "
            "how trainings vary from seed to seed, and no verdict follows from it."
        )


def of_marks(entries: Entries, marks: Mapping[str, str]) -> Iterator[str]:
    """Yield what each mark means, and which could not be tested."""
    if not marks:
        return
    findings = [one for entry in entries.values() for one in entry.findings]
    meanings = ", ".join(f"{mark} {CET} is better than {name}" for name, mark in marks.items())
    test = _TEST.format(count=len(findings))
    yield (
        f"{meanings}, on the same run and against the setting of that method that dev chose, "
        f"otherwise that with the highest mean of the column: {test}. The paper names neither its "
        "test nor a correction."
    )
    untested = [
        f"{mark} ({name})"
        for name, mark in marks.items()
        if mark not in {one.mark for one in findings}
    ]
    if untested:
        yield f"Not tested, since one of the two was not run: {', '.join(untested)}."


def of_chosen(rows: Sequence[Row]) -> Iterator[str]:
    """Yield what the mark of chosen settings says, where there are any."""
    if any(row.chosen for row in rows):
        yield f"{CHOSEN} the setting of its method that was chosen on dev by labels."


def of_columns(lacking: Sequence[Column]) -> Iterator[str]:
    """Yield which columns are left out."""
    if lacking:
        names = [f"{heading(column).text} by {column.judgements}" for column in lacking]
        yield (
            f"Left out, since the study does not measure them or re-ranks fewer documents: "
            f"{', '.join(names)}."
        )


def of_rows(rows: Sequence[Row], label: str) -> Iterator[str]:
    """Yield what rows are there and what those that were not run say."""
    yield f"Numbers in full, with intervals, tests and what was tested against what: {label}.tsv."
    if any(row.reason for row in rows):
        yield (
            "A row that was not run names the study that runs it, or what is lacking; it stands in "
            "the first block only."
        )


def of_paper(paper: Paper) -> str:
    """Return what the paper's columns are."""
    start = f"Columns named paper: values of the paper's {paper.place} with its own marks"
    if paper.same:
        return f"{start}, for the same collection and system."
    return (
        f"{start}, on its own collections. They are not measured on this study's collection: "
        "BM25's rows stand beside BM25's here, those of its stronger retriever beside the first "
        "stronger one here, each beside the first setting of its method."
    )


def of_differences(entries: Entries, against: str) -> Iterator[str]:
    """Yield how to read a difference."""
    findings = [one for entry in entries.values() for one in entry.findings]
    yield (
        f"Mean less the mean of {against} [95% interval, from groups of queries and seeds drawn "
        "anew] (the smallest true difference that this comparison finds with 80% power at the "
        "two-sided level .05)."
    )
    yield f"{DIFFERENT} differs from {against}: {_TEST.format(count=len(findings))}."
