"""Cells as Markdown and LaTeX: what is escaped, how wide rows are, what opens and closes."""

import re

import pytest

from poolbias.tables.render import (
    Cell,
    Heading,
    Line,
    Section,
    Table,
    escape_latex,
    escape_markdown,
    latex,
    markdown,
)

NASTY = "a_b & 50% {x} #1 $2 ~ ^ \\ | * [z] <τ>"


def table(**other):
    given = {
        "label": "toy",
        "caption": f"Toy {NASTY}",
        "headings": (
            Heading("method"),
            Heading("MRR@10", "by labels"),
            Heading("R@1", "by labels"),
        ),
        "sections": (
            Section(
                "",
                (
                    Line((Cell("naive"), Cell("0.1"), Cell("0.2", bold=True))),
                    Line(
                        (Cell(NASTY), Cell("0.3", bold=True, marks="†‡"), Cell("−0.4")), rule=True
                    ),
                    Line((Cell("oracle"), Cell("not run (why_not)", span=2))),
                ),
            ),
        ),
        "notes": (f"† {NASTY}",),
    }
    return Table(**(given | other))


def test_markdown_by_hand():
    assert markdown([table(caption="Toy", notes=("p < .05",))]) == (
        "**Toy**\n"
        "\n"
        "| method | by labels: MRR@10 | by labels: R@1 |\n"
        "| :-- | --: | --: |\n"
        "| naive | 0.1 | **0.2** |\n"
        "| a\\_b & 50% {x} \\#1 $2 ~ ^ \\\\ \\| \\* \\[z\\] \\<τ\\> | **0.3**†‡ | −0.4 |\n"
        "| oracle | not run (why\\_not) |  |\n"
        "\n"
        "- p \\< .05\n"
    )


def test_latex_by_hand():
    text = latex([table(caption="Toy", notes=())])
    assert text.splitlines()[2:] == [
        "\\begin{table}",
        "\\centering\\small",
        "\\caption{Toy}\\label{tab:toy}",
        "\\begin{tabular}{lrr}",
        "\\toprule",
        "\\multicolumn{1}{c}{} & \\multicolumn{2}{c}{by labels} \\\\",
        "\\cmidrule(lr){2-3}",
        "method & MRR@10 & R@1 \\\\",
        "\\midrule",
        "naive & 0.1 & \\textbf{0.2} \\\\",
        "\\midrule",
        escape_latex(NASTY) + " & \\textbf{0.3}\\textsuperscript{\\dag{}\\ddag{}} & $-$0.4 \\\\",
        "oracle & \\multicolumn{2}{l}{not run (why\\_not)} \\\\",
        "\\bottomrule",
        "\\end{tabular}",
        "\\end{table}",
    ]


def test_nothing_raw_is_left():
    assert escape_latex(NASTY) == (
        "a\\_b \\& 50\\% \\{x\\} \\#1 \\$2 \\textasciitilde{} \\textasciicircum{} "
        "\\textbackslash{} \\textbar{} {*} {[}z{]} $<$$\\tau$$>$"
    )
    assert escape_markdown("a\nb\tc") == escape_latex("a\nb\tc") == "a b c"
    assert escape_markdown("cet_listwise") == "cet\\_listwise"


def unescaped(text, characters):
    """Return the characters of `characters` that no backslash stands before."""
    return re.findall(rf"(?<!\\)[{characters}]", text.replace("\\\\", ""))


def columns(row):
    """Return how many columns a row of a tabular fills."""
    spans = [int(n) for n in re.findall(r"\\multicolumn\{(\d+)\}", row)]
    return len(unescaped(row, "&")) + 1 + sum(spans) - len(spans)


def structure(text):
    """Return what is not balanced, not as wide as it should be, or raw in LaTeX source."""
    wrong = [] if len(unescaped(text, "{")) == len(unescaped(text, "}")) else ["braces"]
    if re.findall(r"\\begin\{(\w+)\}", text)[::-1] != re.findall(r"\\end\{(\w+)\}", text)[:2]:
        wrong.append("environments")
    spec = re.search(r"\\begin\{tabular\}\{(\w+)\}", text)[1]
    body = text.partition("\\toprule")[2].partition("\\bottomrule")[0]
    rows = [line for line in body.splitlines() if line.endswith("\\\\")]
    wrong += [row for row in rows if columns(row.removesuffix("\\\\")) != len(spec)]
    outside = text.replace(body, "").partition("\n")[2]
    wrong += unescaped(outside, "&#_^") + unescaped(body, "#_^")
    return wrong + ([] if unescaped(text, "$").__len__() % 2 == 0 else ["dollars"])


def test_latex_is_balanced_and_every_row_as_wide_as_its_specification():
    good = latex([table()])
    assert len(re.findall(r"\\\\$", good, re.MULTILINE)) == 5
    assert structure(good) == []
    assert structure(good.replace("naive &", "naive & more &")) != []
    assert structure(good.replace("a\\_b", "a_b")) != []
    assert structure(good.replace("\\end{table}", "\\end{table}}")) == ["braces"]


def test_wide_tables_are_scaled_and_the_scale_is_closed():
    def wide(count):
        headings = tuple(Heading(f"h{number}") for number in range(count))
        lines = (Line(tuple(Cell("1") for _ in range(count))),)
        return latex([table(headings=headings, sections=(Section("", lines),))])

    assert "resizebox" not in wide(8)
    assert "\\resizebox{\\linewidth}{!}{%\n\\begin{tabular}{lrrrrrrrr}" in wide(9)
    assert "\\end{tabular}}\n" in wide(9)
    assert structure(wide(9)) == []


def test_sections_have_titles_and_headings_stand_above_nothing_too():
    line = Line((Cell("a"), Cell("1"), Cell("2")), rule=True)
    two = table(sections=(Section("first_one", (line,)), Section("second", (line,))))
    assert markdown([two]).count("| method |") == 2
    assert "\nfirst\\_one\n\n| method |" in markdown([two])
    assert "\\multicolumn{3}{l}{\\emph{first\\_one}} \\\\" in latex([two])
    assert structure(latex([two])) == []
    plain = latex([table(sections=(Section("", (line, line)),))])
    assert plain.count("\\midrule") == 2  # below the headings and above the second row
    empty = table(sections=())
    assert markdown([empty]).count("| method |") == latex([empty]).count("method & MRR@10") == 1
    assert markdown([table(), empty]).count("**Toy") == 2


def test_a_row_of_another_width_is_refused():
    for cells in ((Cell("a"), Cell("1")), (Cell("a"), Cell("1", span=3))):
        with pytest.raises(ValueError, match=r"toy: a row is [24] columns wide, the headings 3"):
            table(sections=(Section("", (Line(cells),)),))
