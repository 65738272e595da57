"""The report: one page without the network, sound HTML, every number with its files."""

import itertools
import re
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest
from sample_study import FORM, NAIVE, ROOT, SVG, make

from poolbias.errors import DataError
from poolbias.report.markdown import to_html
from poolbias.report.page import build
from poolbias.report.svg import inline

VOID = {"meta", "br", "hr", "img", "input", "link"}


class Element:
    def __init__(self, tag, attributes, parent):
        self.tag, self.attributes, self.parent = tag, attributes, parent
        self.children, self.parts = [], []

    def all(self, tag=None):
        for child in self.children:
            if tag in (None, child.tag):
                yield child
            yield from child.all(tag)

    def words(self):
        return "".join(p if isinstance(p, str) else p.words() for p in self.parts)

    def add(self, element):
        self.children.append(element)
        self.parts.append(element)
        return element


class Page(HTMLParser):
    """A strict reading of a page: every tag is closed, in order."""

    def __init__(self, text):
        super().__init__()
        self.root = self.here = Element("", {}, None)
        self.feed(text)
        self.close()
        assert self.here is self.root, f"{self.here.tag} is not closed"

    def handle_starttag(self, tag, attributes):
        names = [name for name, _ in attributes]
        assert len(names) == len(set(names)), (tag, names)
        element = self.here.add(Element(tag, dict(attributes), self.here))
        if tag not in VOID:
            self.here = element

    def handle_startendtag(self, tag, attributes):
        self.here.add(Element(tag, dict(attributes), self.here))

    def handle_endtag(self, tag):
        assert tag == self.here.tag, f"</{tag}> closes {self.here.tag}"
        self.here = self.here.parent

    def handle_data(self, text):
        self.here.parts.append(text)


@pytest.fixture
def sample(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    contents, page = make(tmp_path)
    return build(contents, page), contents, page


def read(sample):
    return Page(sample[0]).root


def test_the_reading_of_pages_can_fail():
    for wrong in ("<p><b>a</p></b>", "<p>a", '<p id="a" id="b"></p>'):
        with pytest.raises(AssertionError):
            Page(wrong)


def test_ids_are_unique_and_references_lead_to_them(sample):
    root = read(sample)
    ids = [e.attributes["id"] for e in root.all() if "id" in e.attributes]
    assert len(ids) == len(set(ids)) > 40
    references = [e.attributes[k][1:] for e in root.all() for k in ("href",)
                  if e.attributes.get(k, "").startswith("#")]  # fmt: skip
    for key in ("aria-labelledby", "aria-describedby"):
        references += [i for e in root.all() for i in e.attributes.get(key, "").split()]
    assert len(references) > 30
    assert [name for name in references if name not in ids] == []


def test_every_link_to_a_file_leads_to_one_that_is_there(sample):
    links = [e.attributes["href"] for e in read(sample).all("a")]
    files = [link for link in links if not link.startswith("#")]
    assert len(files) > 40
    assert [link for link in files if not (sample[2].parent / link).resolve().is_file()] == []
    assert f"../metrics/rankings/{FORM}/seed-2/dense/top-100/test.truth-1a2b3c.tsv" in files
    assert f"../logs/evaluate/rankings/{FORM}/seed-2/dense/top-100/test.labels-outside.log" in files
    assert f"../logs/rerank/{NAIVE}/seed-1/dense/top-100/test.log" in files
    assert f"../logs/train_coupled_ranker/{FORM}/seed-1.log" in files
    assert "../logs/count_false_negatives/hpo/dense/train.outside.log" in files


def test_a_file_that_is_not_there_has_no_link(sample):
    html, contents, page = sample
    gone = f"results/logs/rerank/{NAIVE}/seed-1/dense/top-100/test.log"
    assert f"../{gone.removeprefix('results/')}" in html
    Path(gone).unlink()
    assert f"../{gone.removeprefix('results/')}" not in build(contents, page)


def test_nothing_is_fetched(sample):
    html = sample[0]
    root = read(sample)
    assert [e.tag for e in root.all() if "src" in e.attributes or e.tag in ("link", "iframe")] == []
    assert [e for e in root.all("a") if "://" in e.attributes["href"]] == []
    assert re.search(r"https?://|url\((?!#)|@import|fetch\(|XMLHttp", html) is None
    (policy,) = [e for e in root.all("meta") if e.attributes.get("http-equiv")]
    assert policy.attributes["content"].startswith("default-src 'none'")


def test_equal_inputs_give_equal_bytes(sample):
    html, contents, page = sample
    assert build(contents, page) == html


def test_words_of_results_are_escaped(sample):
    html = sample[0]
    assert "CET &lt;b&gt;helps&lt;/b&gt; &amp; more." in html
    assert "<b>" not in html


def table(root, name):
    (found,) = [e for e in root.all("table") if e.attributes.get("id") == f"table-{name}"]
    return [[(c, c.words()) for c in row.children] for row in found.all("tr")]


def test_verdicts_come_first_and_are_counted(sample):
    root = read(sample)
    headings = [e.words() for e in root.all("h2")]
    assert headings[0] == "Verdicts"
    assert [dd.words() for dd in root.all("dd")] == ["1", "1", "1", "2"]
    heads, first, second = table(root, "verdicts")
    assert [text for _, text in heads[2:]] == [
        "reproduced",
        "contradicted",
        "inconclusive",
        "not run",
    ]
    assert [text for _, text in first[2:]] == ["✓ 1", "✗ 1", "? 1", "– 1"]
    assert [text for _, text in second[2:]] == ["0", "0", "0", "– 1"]
    rows = table(root, "run-cet_helps")
    assert rows[1][4][1] == "+0.0200[+0.0150, +0.0250]"
    assert rows[2][4][1].startswith("−0.0200")
    assert "verdict reproduced" in rows[1][3][0].attributes["class"]
    assert "the interval is on neither side of 0" in rows[3][3][1]
    lacking = table(root, "lacking-cet_helps")
    assert [text for _, text in lacking[1]][2:] == [
        *("rance over naive" + "bert", "the study has no rance on hpo", "+0.0110")
    ]


def test_systems_of_one_method_are_told_apart(sample):
    _, contents, page = sample
    frame = pd.read_csv(contents.claims, sep="\t", dtype="str", keep_default_na=False)
    one = frame["sources"][0].split("; ")[1]
    frame.loc[0, "sources"] = f"{one}; {one.replace('naive', 'other')}; {one}"
    frame.to_csv(contents.claims, sep="\t", index=False)
    row = table(Page(build(contents, page)).root, "run-cet_helps")[1]
    links = [link.words() for link in row[2][0].all("a")]
    assert links == ["naive (dense, pool outside)"] * 2  # `other` is no system of the study


def test_numbers_lead_to_the_files_of_their_systems(sample):
    root = read(sample)
    anchors = {e.attributes["id"]: e for e in root.all("li") if "id" in e.attributes}
    rows = table(root, "table_1")
    assert [text for _, text in rows[0]][5:] == ["RR@10 by truth", "seeds", "queries"]
    assert rows[2][5][1] == "0.7000†[0.4000, 0.6000]"
    (link,) = list(rows[2][5][0].all("a"))
    named = anchors[link.attributes["href"][1:]].words()
    assert named.startswith("cet-paper-tau1 (bert) on dense, hpo, pool outside")
    assert FORM in named
    assert rows[3][5][1] == "not run (no truth)"
    for name in ("measures", "forms", "table_1", "run-cet_helps"):
        for row in table(root, name)[1:]:
            for cell, text in row:
                if re.match(r"[+−]?0\.\d{4}", text):
                    assert list(cell.all("a")), (name, text)


def test_a_table_of_runs_has_both_judgements_side_by_side(sample):
    root = read(sample)
    heads, row = table(root, "table_2")
    assert [text for _, text in heads][5:7] == ["R@100 by labels", "R@100 by truth"]
    assert [text[:6] for _, text in row][5:7] == ["0.5000", "0.5500"]
    assert next(row[6][0].all("a")).attributes["href"].startswith("#files-")
    printed = table(root, "table_2-paper")
    assert [text for _, text in printed[1]] == ["dense", "0.9587"]


def test_both_forms_are_shown(sample):
    methods = [row[3][1] for row in table(read(sample), "forms")[1:]]
    assert methods == ["cet-paper-tau1", "cet-released-tau10"]


def test_tables_are_named_and_their_headings_scoped(sample):
    root = read(sample)
    tables = list(root.all("table"))
    assert len(tables) > 12
    for each in tables:
        assert each.children[0].tag == "caption"
        assert each.children[0].words()
        assert each.parent.attributes["role"] == "region"
        assert each.parent.attributes["aria-label"]
        assert [th for th in each.all("th") if "scope" not in th.attributes] == []
    labels = [
        e.attributes["aria-label"] for e in root.all() if e.attributes.get("role") == "region"
    ]
    assert len(labels) == len(set(labels))


def test_headings_go_down_one_level_at_a_time(sample):
    levels = [int(e.tag[1]) for e in read(sample).all() if re.fullmatch("h[1-6]", e.tag)]
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))


def test_a_study_without_cet_says_so(sample):
    _, contents, page = sample
    text = contents.summary.read_text()
    contents.summary.write_text("\n".join(x for x in text.split("\n") if "\tcet-" not in x))
    assert "This study has no ranker trained with CET." in build(contents, page)


# ---- drawings and pages of the documents


def test_a_drawing_becomes_part_of_the_page(tmp_path):
    path = tmp_path / "figure_1.svg"
    path.write_text(SVG)
    root = Page(inline(path, "one", "A title", "What & why")).root
    (svg,) = root.children
    assert (svg.tag, svg.attributes["viewbox"]) == ("svg", "0 0 504 200")
    assert not {"width", "height", "xmlns", "version"} & set(svg.attributes)
    assert svg.attributes["role"] == "img"
    assert svg.attributes["aria-labelledby"] == "one-title one-desc"
    assert [e.words() for e in svg.children[:2]] == ["A title", "What & why"]
    ids = [e.attributes["id"] for e in svg.all() if "id" in e.attributes]
    assert ids == ["one-title", "one-desc", "one-m1", "one-p1"]  # nothing refers to figure_1
    assert [e.attributes["href"] for e in svg.all("use")] == ["#one-m1"]
    assert [e.attributes["clip-path"] for e in svg.all() if "clip-path" in e.attributes] == [
        "url(#one-p1)"
    ]
    assert not list(svg.all("style"))
    assert not list(svg.all("metadata"))


def test_a_drawing_that_is_damaged_is_named(tmp_path):
    path = tmp_path / "figure_1.svg"
    path.write_text(SVG[:300])
    with pytest.raises(DataError, match=r"figure_1\.svg: not XML"):
        inline(path, "one", "", "")


def test_markdown_becomes_part_of_the_page():
    text = (
        "# Title\n\nSee [this](https://a.b).\n\n## Part A\n\n| a | b |\n|---|---|\n| `x<y` | 2 |\n"
    )
    html = to_html(text + "\n<script>1</script>\n", "d", level=3)
    root = Page(html).root
    assert "Title" not in html
    assert [e.tag for e in root.children][:2] == ["p", "h3"]
    assert root.children[0].words() == "See this."
    assert root.children[1].attributes["id"] == "d-part-a"
    assert next(root.all("caption")).words() == "Part A"
    assert [e.words() for e in root.all("td")] == ["x<y", "2"]
    assert not list(root.all("script"))


def test_the_page_of_differences_is_read_whole():
    text = (ROOT / "docs" / "differences.md").read_text()
    root = Page(to_html(text, "d")).root
    rows = len(re.findall(r"^\| ", text, re.MULTILINE))
    assert len(list(root.all("tr"))) == rows > 50
    words = root.words()
    for part in ("1 + exp(S(j) / τ)", "unknown", "our choice"):
        assert part in words
