"""The pages against the files: links and anchors, packages and their reasons, no package index."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# Hosts of package indexes, and what points pip or a lock file to one. Packages come from where the
# user's own settings say.
INDEX = re.compile(
    r"pypi\.org|pythonhosted|download\.pytorch|conda\.anaconda|(?<!emit-)index-url|--find-links|-simple/"
)


def files() -> list[Path]:
    """Return the repository's files: tracked, or new and not ignored."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    paths = [ROOT / name for name in done.stdout.split("\0") if name]
    return sorted({path for path in paths if path.is_file()})


def pages() -> list[Path]:
    return [path for path in files() if path.suffix == ".md"]


def anchors(text: str) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    prose = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.*)$", prose, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", each.strip().lower()).replace(" ", "-") for each in headings}


def broken(page: Path, text: str) -> list[str]:
    """Return a page's relative links whose file or anchor is not there."""
    prose = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    found = []
    for link in re.findall(r"\]\(([^)\s]+)\)", prose):
        if link.startswith(("https:", "mailto:")):
            continue
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        if not target.exists() or (anchor and anchor not in anchors(target.read_text())):
            found.append(link)
    return found


def test_a_broken_link_is_found():
    page = ROOT / "toy.md"
    text = "# A b\n[x](README.md) [y](#a-b) [z](https://doi.org/1)\n```\n[code](none)\n```\n"
    page_links = "[1](none.md) [2](README.md#none) [3](http://a.b)"
    assert anchors(text) == {"a-b"}
    assert broken(page, "[x](README.md) [z](https://doi.org/1)\n```\n[code](none)\n```\n") == []
    assert broken(page, page_links) == ["none.md", "README.md#none", "http://a.b"]


def test_links_and_anchors_of_all_pages_exist():
    found = {str(page.relative_to(ROOT)): broken(page, page.read_text()) for page in pages()}
    assert len(found) > 10
    assert {page: links for page, links in found.items() if links} == {}


def test_every_page_can_be_reached_from_the_readme():
    seen, waiting = set(), [ROOT / "README.md"]
    while waiting:
        page = waiting.pop().resolve()
        if page not in seen and page.is_file():
            seen.add(page)
            links = re.findall(r"\]\(([^)#\s]+\.md)", page.read_text())
            waiting += [page.parent / link for link in links if not link.startswith("http")]
    assert set(pages()) - seen == set()


def required() -> set[str]:
    """Return the packages of requirements/*.in and torch.txt, by name."""
    sources = [*sorted((ROOT / "requirements").glob("*.in")), ROOT / "requirements" / "torch.txt"]
    lines = [line for path in sources for line in path.read_text().splitlines()]
    return {re.split(r"[<>=!~;\[ ]", line)[0] for line in lines if line and line[0] not in "#-"}


def test_every_package_has_its_reason_and_no_other_is_named():
    page = (ROOT / "docs" / "dependencies.md").read_text()
    rows = re.findall(r"^\| ([a-z0-9, -]+) \|", page, re.MULTILINE)
    named = [name for row in rows for name in row.split(", ") if name not in ("package", "")]
    assert len(named) == len(set(named)) > 25
    assert set(named) == required()


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("--index-url https://some.where/simple", True),
        ("see https://pypi" + ".org/project/x", True),
        ("uv pip compile --no-emit-index-url a.in", False),
        ("https://doi.org/10.1145/3511808.3557343", False),
    ],
)
def test_a_package_index_is_told_from_other_addresses(text, wrong):
    assert bool(INDEX.search(text)) == wrong


def test_no_file_names_a_package_index():
    own = Path(__file__).resolve()
    texts = {path: path.read_bytes().decode("utf-8", "ignore") for path in files() if path != own}
    assert len(texts) > 100
    assert [str(path) for path, text in texts.items() if INDEX.search(text)] == []
