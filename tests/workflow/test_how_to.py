"""The pages of docs/how-to, followed word for word in a copy of the repository."""

import json
import re

import pandas as pd
import pytest
from conftest import ROOT
from pages import Block, blocks_of, copy_repository, run

from poolbias.formats import read_qrels, read_run

PAGES = {page.stem: page for page in (ROOT / "docs" / "how-to").glob("*.md")}


def follow(name, folder, smoke=None, shell=True):
    """Do what a page says, block by block; return the copy and what its shell blocks print."""
    copy = copy_repository(folder, smoke)
    said = ""
    for block in blocks_of(PAGES[name]):
        if block.language == "bash":
            said += run(block.text, copy) if shell else ""
        elif block.language == "diff":
            block.edit(copy)
        else:
            block.write(copy)
    return copy, said


def jobs(said):
    """Return how many jobs of each rule the last dry run would start."""
    table = said.rsplit("Job stats:", 1)[1].split("\n\n")[0]
    return {rule: int(n) for rule, n in re.findall(r"^(\w+) +(\d+)$", table, re.MULTILINE)}


def only(folder, pattern):
    (found,) = folder.glob(pattern)
    return found


def test_a_block_that_does_not_fit_the_code_fails(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("one\ntwo\ntwo\n")
    with pytest.raises(AssertionError, match="is there already"):
        Block("python", "a.txt", "", 1).write(tmp_path)
    with pytest.raises(AssertionError, match="holds this 0 times"):
        Block("diff", "a.txt", "-three\n+four\n", 1).edit(tmp_path)
    with pytest.raises(AssertionError, match="holds this 2 times"):
        Block("diff", "a.txt", "-two\n+three\n", 1).edit(tmp_path)
    Block("diff", "a.txt", " one\n+and\n@@\n two\n-two\n+three\n", 1).edit(tmp_path)
    assert path.read_text() == "one\nand\ntwo\nthree\n"


def test_every_page_is_followed():
    text = (ROOT / "tests" / "workflow" / "test_how_to.py").read_text()
    assert set(re.findall(r'follow\("([\w-]+)"', text)) == set(PAGES)
    assert len(PAGES) >= 5


@pytest.mark.parametrize("name", PAGES)
def test_a_page_names_every_file_and_keeps_the_names_in_sync(name):
    blocks = blocks_of(PAGES[name])
    assert {block.language for block in blocks} <= {"python", "yaml", "diff", "bash"}
    assert all(bool(block.title) == (block.language != "bash") for block in blocks)
    titles = {block.title for block in blocks if block.title}
    assert any(title.startswith("tests/unit/test_") for title in titles)
    assert "CHANGELOG.md" in titles
    commands = "".join(block.text for block in blocks if block.language == "bash")
    assert "python tests/unit/test_faces.py --write" in commands


@pytest.mark.parametrize("name", PAGES)
def test_what_a_page_adds_is_formatted_and_clean(name, tmp_path):
    copy, _ = follow(name, tmp_path, shell=False)
    run("ruff check --no-cache . && ruff format --no-cache --check .", copy)
    if any(block.title and block.title.endswith(".smk") for block in blocks_of(PAGES[name])):
        run("snakefmt --check rules Snakefile", copy)


def test_a_method(smoke, tmp_path):
    copy, said = follow("add-a-method", tmp_path, smoke)
    assert re.search(r"\b5 passed", said)
    shares = {}
    for method in ("uniform", "deeper"):
        file = only(copy / "results" / "candidates", f"*.dense.{method}-*.json")
        shares[method] = json.loads(file.read_text())
    assert shares["deeper"]["candidates_kept"] == shares["uniform"]["candidates_kept"]
    draws = [shares[method]["false_negative_draws"] for method in ("deeper", "uniform")]
    assert draws[0] < draws[1]
    # `naive` is the smoke study's, and a line in a registry is no change of its code
    assert jobs(said)["train_ranker"] == 1
    assert not {"build_collection", "encode_texts", "search_dense"} & set(jobs(said))
    assert "`deeper`" in (copy / "docs" / "configuration.md").read_text()


def test_a_retriever(smoke, tmp_path):
    copy, said = follow("add-a-retriever", tmp_path, smoke)
    assert re.search(r"\b4 passed", said)
    folder = only(copy / "results" / "runs", "*/overlap-*")
    run = read_run(folder / "test.run.gz")
    assert run.groupby("query_id").size().max() == 200
    assert run["score"].min() >= 1
    collection = copy / "results" / "collections" / folder.parent.name
    texts = {
        name: pd.read_csv(collection / f"{name}.tsv", sep="\t", quoting=3, index_col=0)["text"]
        for name in ("queries", "documents")
    }
    first = run[run["rank"] == 1].iloc[0]
    words = [
        set(re.findall(r"\w+", texts[name][first[column]].casefold()))
        for name, column in (("queries", "query_id"), ("documents", "document_id"))
    ]
    assert first["score"] == len(words[0] & words[1])
    assert jobs(said)["train_ranker"] == 2


def test_a_ranker(smoke, tmp_path):
    copy, said = follow("add-a-ranker", tmp_path, smoke)
    assert re.search(r"\b5 passed", said)
    folder = only(copy / "results" / "rankers", "*.words-*/seed-1")
    loss = pd.read_csv(folder / "training.tsv", sep="\t")["loss_r"]
    assert loss.tail(5).mean() < loss.head(5).mean()
    metrics = pd.read_csv(copy / "results" / "words" / "metrics.tsv", sep="\t")
    assert set(metrics["ranker"]) == {"-", "words"}  # the run itself has none
    assert set(metrics["judgements"]) == {"truth", "labels"}


def test_a_collection(smoke, tmp_path):
    copy, said = follow("add-a-collection", tmp_path)
    assert re.search(r"\b5 passed", said)
    collection = only(copy / "results" / "collections", "divisors*")
    truth = read_qrels(collection / "truth.qrels")
    assert sorted(truth.loc[truth["query_id"] == "multiples-40", "document_id"]) == [
        *("120", "40", "80")
    ]
    labels = read_qrels(only(collection, "pools/*/labels.qrels"))
    assert 0 < len(labels) < len(truth)
    assert {"train_ranker", "rerank", "figure_1"} <= set(jobs(said))


def test_a_figure(smoke, tmp_path):
    copy, said = follow("add-a-figure", tmp_path, smoke)
    assert re.search(r"\b5 passed", said)
    assert jobs(said.partition("This was a dry-run")[0]) == {
        "figure_means": 1,
        "all": 1,
        "total": 2,
    }
    figures = copy / "results" / "smoke" / "figures"
    shown = pd.read_csv(figures / "figure_means.tsv", sep="\t")
    assert len(shown) == 14  # twelve rankings and the two runs that they re-order
    assert (figures / "figure_means.svg").read_text().count("<path") > 10
    assert (figures / "figure_means.pdf").stat().st_size > 1000
