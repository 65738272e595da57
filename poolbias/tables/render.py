"""Tables of cells as Markdown and as LaTeX (booktabs); nothing here knows what a cell is about."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

_LATEX = {
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{"†": r"\dag{}", "‡": r"\ddag{}", "−": "$-$", "–": "--", "≥": r"$\geq$", "<": "$<$"},
    **{"[": "{[}", "]": "{]}", "*": "{*}"},  # a row that starts so would be an option of the last
    **{">": "$>$", "|": r"\textbar{}", "τ": r"$\tau$", "η": r"$\eta$", "·": r"$\cdot$"},
}
_WIDE = 8  # columns beyond which LaTeX scales a table to the width of the line


@dataclass(frozen=True)
class Cell:
    """A cell: its text, whether it is bold, marks set high behind it, columns it stretches over."""

    text: str = ""
    bold: bool = False
    marks: str = ""
    span: int = 1


@dataclass(frozen=True)
class Heading:
    """A column's heading; neighbours of one group stand under its common heading."""

    text: str
    group: str = ""


@dataclass(frozen=True)
class Line:
    """A row of cells; `rule` draws a line above it where the form has lines."""

    cells: tuple[Cell, ...]
    rule: bool = False


@dataclass(frozen=True)
class Section:
    """Rows under a title of their own; an empty title is not shown."""

    title: str
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Table:
    """A table, its headings for the first `texts` columns of words and the columns of numbers."""

    label: str
    caption: str
    headings: tuple[Heading, ...]
    sections: tuple[Section, ...]
    texts: int = 1
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check that every row is as wide as the headings."""
        for section in self.sections:
            for line in section.lines:
                width = sum(cell.span for cell in line.cells)
                if width != len(self.headings):
                    raise ValueError(
                        f"{self.label}: a row is {width} columns wide, the headings "
                        f"{len(self.headings)}"
                    )


_NOTHING = (Section("", ()),)  # headings stand also above no row


def markdown(tables: Sequence[Table]) -> str:
    """Return tables as GitHub's Markdown, one below the other, notes as lists."""
    return "\n\n".join("\n".join(_markdown(table)) for table in tables) + "\n"


def latex(tables: Sequence[Table]) -> str:
    r"""Return tables as LaTeX to `\input`; the document loads booktabs and graphicx."""
    parts = [
        "% Needs \\usepackage{booktabs,graphicx}.",
        *("\n".join(_latex(table)) for table in tables),
    ]
    return "\n\n".join(parts) + "\n"


def escape_markdown(text: str) -> str:
    """Return text in which no character means anything to Markdown or ends a cell."""
    return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", " ".join(text.split()))


def escape_latex(text: str) -> str:
    """Return text in which no character means anything to LaTeX."""
    return "".join(_LATEX.get(character, character) for character in " ".join(text.split()))


def _markdown(table: Table) -> Iterator[str]:
    yield f"**{escape_markdown(table.caption)}**"
    names = [f"{h.group}: {h.text}" if h.group else h.text for h in table.headings]
    rulers = [":--" if index < table.texts else "--:" for index in range(len(names))]
    for section in table.sections or _NOTHING:
        yield ""
        if section.title:
            yield f"{escape_markdown(section.title)}\n"
        yield _row([escape_markdown(name) for name in names])
        yield _row(rulers)
        for line in section.lines:
            cells = [[_markdown_cell(cell), *[""] * (cell.span - 1)] for cell in line.cells]
            yield _row([text for texts in cells for text in texts])
    if table.notes:
        yield ""
        yield from (f"- {escape_markdown(note)}" for note in table.notes)


def _row(texts: Sequence[str]) -> str:
    return f"| {' | '.join(texts)} |"


def _markdown_cell(cell: Cell) -> str:
    text = escape_markdown(cell.text)
    return (f"**{text}**" if cell.bold else text) + escape_markdown(cell.marks)


def _latex(table: Table) -> Iterator[str]:
    columns = "l" * table.texts + "r" * (len(table.headings) - table.texts)
    yield "\\begin{table}"
    yield "\\centering\\small"
    yield f"\\caption{{{escape_latex(table.caption)}}}\\label{{tab:{table.label}}}"
    if wide := len(table.headings) > _WIDE:
        yield "\\resizebox{\\linewidth}{!}{%"
    yield f"\\begin{{tabular}}{{{columns}}}"
    yield "\\toprule"
    yield from _latex_headings(table.headings)
    for section in table.sections or _NOTHING:
        yield "\\midrule"
        if section.title:
            title = f"\\emph{{{escape_latex(section.title)}}}"
            yield f"\\multicolumn{{{len(table.headings)}}}{{l}}{{{title}}} \\\\"
        for number, line in enumerate(section.lines):
            if line.rule and (number or section.title):
                yield "\\midrule"
            yield " & ".join(_latex_cell(cell) for cell in line.cells) + " \\\\"
    yield "\\bottomrule"
    yield "\\end{tabular}" + ("}" if wide else "")
    yield from (f"\\par\\footnotesize {escape_latex(note)}" for note in table.notes)
    yield "\\end{table}"


def _latex_headings(headings: Sequence[Heading]) -> Iterator[str]:
    groups = [(group, len(list(found))) for group, found in groupby(headings, lambda h: h.group)]
    if any(group for group, _ in groups):
        yield (
            " & ".join(
                f"\\multicolumn{{{width}}}{{c}}{{{escape_latex(group)}}}" for group, width in groups
            )
            + " \\\\"
        )
        start = 1
        for group, width in groups:
            if group:
                yield f"\\cmidrule(lr){{{start}-{start + width - 1}}}"
            start += width
    yield " & ".join(escape_latex(heading.text) for heading in headings) + " \\\\"


def _latex_cell(cell: Cell) -> str:
    text = escape_latex(cell.text)
    text = f"\\textbf{{{text}}}" if cell.bold else text
    text += f"\\textsuperscript{{{escape_latex(cell.marks)}}}" if cell.marks else ""
    return text if cell.span == 1 else f"\\multicolumn{{{cell.span}}}{{l}}{{{text}}}"
