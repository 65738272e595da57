"""A folder in BEIR's layout from outside, through all targets by one config entry."""

import json
import random

import pandas as pd
import pytest
import yaml
from conftest import SMOKE, Workflow


def beir(folder):
    """Write 80 documents, and queries whose relevant documents share their words."""
    drawn = random.Random(5)
    words = [f"word{n}" for n in range(40)]
    documents = {f"doc-{n}": drawn.choices(words, k=12) for n in range(80)}
    queries = {f"query-{n}": drawn.choices(words, k=3) for n in range(40)}
    (folder / "qrels").mkdir(parents=True)
    lines = [
        json.dumps({"_id": name, "title": text[0], "text": " ".join(text), "metadata": {}})
        for name, text in documents.items()
    ]
    (folder / "corpus.jsonl").write_text("\n".join(lines) + "\n")
    lines = [json.dumps({"_id": name, "text": " ".join(text)}) for name, text in queries.items()]
    (folder / "queries.jsonl").write_text("\n".join(lines) + "\n")
    names = list(queries)
    for split, part in (("train", names[:26]), ("test", names[26:36])):
        rows = ["query-id\tcorpus-id\tscore"]
        for name in part:
            shared = {d: len(set(queries[name]) & set(text)) for d, text in documents.items()}
            best = sorted(documents, key=lambda d: (-shared[d], d))
            rows += [f"{name}\t{best[0]}\t1", f"{name}\t{best[1]}\t0"]
        (folder / "qrels" / f"{split}.tsv").write_text("\n".join(rows) + "\n")


def study(folder, **entry):
    text = yaml.safe_load(SMOKE.read_text())
    own = {"kind": "beir", "folder": str(folder / "tiny"), "held_out": 6}
    text |= {
        "study": "own",
        "collections": {"own": own | entry},
        "pools": {"given": {"retrievers": []}},
        "experiments": [
            {"retriever": ["bm25", "dense"], "method": {"name": "naive", "depth": 50}},
            {
                "retriever": "dense",
                "method": [
                    {"name": "cet", "form": "paper", "depth": 50},
                    {"name": "rocketqa", "share_removed": 0.5, "depth": 50},
                    {"name": "zhan", "depth": 50},
                ],
            },
        ],
    }  # fmt: skip
    text["retrievers"].pop("outside")
    path = folder / "own.yaml"
    path.write_text(yaml.safe_dump(text, sort_keys=False))
    return path


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    folder = tmp_path_factory.mktemp("own")
    beir(folder / "tiny")
    workflow = Workflow(folder)
    path = study(folder)
    workflow.run("--cores", "2", "all", configfile=path)
    return workflow, path


def test_all_targets_are_made(own):
    workflow, path = own
    assert workflow.jobs(configfile=path) == {}
    made = {file.name for file in (workflow.folder / "results" / "own").rglob("*.*")}
    assert {"figure_1.pdf", "figure_3.svg", "table_1.md", "report.html", "claims.tsv"} <= made


def test_means_are_over_the_judged_test_queries(own):
    workflow, _ = own
    table = pd.read_csv(workflow.path("own/tables/table_1.tsv"), sep="\t")
    means = table[(table["source"] == "ours") & (table["status"] == "mean")]
    assert set(means["queries"]) == {10}
    assert set(means["collection"]) == {workflow.path("collections/*").name}
    statistics = json.loads(workflow.path("collections/*/statistics.json").read_text())
    assert statistics["queries_by_split"] == {"train": 20, "dev": 6, "test": 10}
    assert statistics["queries_without_judgements"] == 4


def test_judged_irrelevant_documents_are_left_out_by_option(own):
    workflow, _ = own
    path = study(workflow.folder, judged_irrelevant="left_out")
    workflow.run("--cores", "2", "table_filters", configfile=path)
    told = [
        json.loads(file.read_text())
        for file in (workflow.folder / "results" / "candidates").glob("*.json")
    ]
    less = [
        found["candidates_judged_irrelevant"]
        for found in told
        if "candidates_judged_irrelevant" in found
    ]
    assert less
    assert all(count > 0 for count in less)


def test_what_does_not_fit_is_told_before_any_job(own):
    workflow, path = own
    text = yaml.safe_load(path.read_text())
    text["experiments"][0]["method"] = "oracle"
    text["pools"]["given"]["retrievers"] = ["bm25"]
    bad = workflow.folder / "bad.yaml"
    bad.write_text(yaml.safe_dump(text))
    output = workflow.run("-n", configfile=bad, check=False)
    assert "found 'oracle' with the collection 'own', where not all that is relevant" in output
    assert "annotators cannot be simulated; write []" in output
    text = yaml.safe_load(path.read_text())
    text["collections"]["own"]["folder"] = "/nowhere"
    text["study"] = "other"
    bad.write_text(yaml.safe_dump(text))
    output = workflow.run("-n", configfile=bad, check=False)
    assert "found no /nowhere/corpus.jsonl (nor /nowhere/corpus.jsonl.gz)" in output
