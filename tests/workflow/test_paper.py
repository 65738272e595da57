"""The paper's study as a miniature: official formats, a local server, tiny checkpoints."""

import re
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
import yaml
from conftest import ROOT, Workflow
from miniature import PAPER, QUERY, checkpoint, files, run, sources, study

sys.path.insert(0, str(ROOT / "tests" / "unit"))

from broken_server import serving

STARTS = {
    "google-bert/bert-base-uncased": "safetensors",
    "xyma/PROP-marco": "bert",
    "Capreolus/bert-base-msmarco": "bert",
    "nghuyong/ernie-1.0-base-zh": "ernie",
}


@pytest.fixture(scope="module")
def miniature(tmp_path_factory):
    """The finished miniature: its workflow, study file, and what was asked of the server."""
    folder = tmp_path_factory.mktemp("miniature")
    hosted = folder / "hosted"
    passages, documents, chinese = files(hosted)
    for name, style in STARTS.items():
        checkpoint(folder / "results" / "sources" / "checkpoints" / name, style)
    sets = {
        "msmarco-passage": (passages["sets"], list(passages["documents"])),
        "msmarco-document": (documents["sets"], list(documents["documents"])),
    }
    for name in ("ance",):
        for kind, (held, ids) in sets.items():
            queries = [query for part in held.values() for query in part]
            run(folder / "runs" / name / f"{kind}.run", queries, ids, seed=len(name))
    queries = [f"train-{n}" for n in range(len(chinese["train"]))] + list(chinese["dev"])
    for name in ("de",):
        run(folder / "runs" / name / "dureader-retrieval.run", queries, chinese["ids"], seed=7)
    workflow = Workflow(folder)
    served = {path.name: path.read_bytes() for path in hosted.iterdir() if path.is_file()}
    with serving(served) as server:
        listed = folder / "sources.yaml"
        listed.write_text(yaml.safe_dump(sources(hosted, server.address)))
        path = study(folder, listed)
        output = workflow.run("--cores", "2", "all", configfile=path)
        asked = list(server.asked)
    return workflow, path, asked, output


def test_every_rule_of_the_papers_study_is_executed(miniature):
    workflow, _, asked, output = miniature
    (workflow.folder / "plan").mkdir(exist_ok=True)
    planned = Workflow(workflow.folder / "plan").jobs(configfile=PAPER)
    table = output.split("Job stats:")[1].split("\n\n")[0]
    executed = set(re.findall(r"^(\w+) +\d+$", table, flags=re.MULTILINE))
    assert set(planned) - executed == set()
    assert {"retrieve_source", "bring_run", "join_tokens", "join_halves"} <= executed
    assert ("/409", "") in asked  # the first address refuses, the second gives
    assert any(path == "/collectionandqueries.tar.gz" for path, _ in asked)


def test_tables_have_the_papers_collections_and_values_beside(miniature):
    workflow, _, _, _ = miniature
    table = pd.read_csv(workflow.path("miniature/tables/table_1.tsv"), sep="\t", dtype=str)
    ours = table[table["source"] == "ours"]
    assert list(dict.fromkeys(ours["collection"])) == [
        "msmarco-passage/dev", "trec-dl-2019-passage", "msmarco-document/dev",
        "trec-dl-2019-document",
    ]  # fmt: skip
    queries = ours[ours["status"] == "mean"].groupby("collection")["queries"].unique()
    assert {int(float(count)) for counts in queries for count in counts} == {6}
    paper = table[(table["source"] == "paper") & (table["collection"] == "msmarco-passage/dev")]
    assert "0.3638" in set(paper["mean"])
    third = pd.read_csv(workflow.path("miniature/tables/table_3.tsv"), sep="\t", dtype=str)
    third = third[third["source"] == "ours"]
    assert set(third["collection"]) == {"dureader-retrieval/dev"}
    assert set(third["ranker"]) == {"ernie"}
    fourth = pd.read_csv(workflow.path("miniature/tables/table_4.tsv"), sep="\t", dtype=str)
    fourth = fourth[(fourth["source"] == "ours") & (fourth["status"] == "mean")]
    assert {"bert", "prop", "cedr_knrm", "parade_max"} <= set(fourth["ranker"])


def test_measures_by_labels_follow_the_official_grades(miniature):
    workflow, _, _, _ = miniature
    folder = "collections/msmarco-passage-*"
    labels = workflow.path(f"{folder}/pools/given/labels.qrels")
    graded = {}
    for line in workflow.path(f"{folder}/truth.qrels").read_text().splitlines():
        query, _, document, grade = line.split()
        graded[query, document] = int(grade)
    deep = {
        (query, document): int(grade)
        for query, _, document, grade in map(str.split, labels.read_text().splitlines())
        if query.startswith("200")
    }
    assert deep
    assert all(grade == int(graded[pair] >= 2) for pair, grade in deep.items())


def test_a_finished_miniature_needs_neither_server_nor_anything_else(miniature):
    workflow, path, _, _ = miniature
    assert workflow.jobs(configfile=path) == {}


def test_the_full_study_is_planned_in_time(miniature):
    workflow, _, _, _ = miniature
    (workflow.folder / "plan").mkdir(exist_ok=True)
    began = time.monotonic()
    jobs = Workflow(workflow.folder / "plan").jobs(configfile=PAPER)
    assert sum(jobs.values()) > 400
    assert time.monotonic() - began < 60  # under 10 s on a machine of its own
    assert QUERY not in Path(PAPER).read_text()
