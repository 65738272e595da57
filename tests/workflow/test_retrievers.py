"""Retrievers of every kind on the smoke study's collection: trained, shared, indexed, imported."""

import gzip
import json
import shutil

import pytest
import yaml
from conftest import SMOKE, Workflow

from poolbias.config.experiments import folder
from poolbias.config.load import load as load_study
from poolbias.config.retrievers import DenseRetriever
from poolbias.formats import read_run
from poolbias.models.biencoder_files import load

TINY = {
    "kind": "trained",
    "pool": "outside",
    "layers": 1,
    "depth": 50,
    "query_tokens": 8,
    "document_tokens": 16,
    "training": {"steps": 2, "pairs": 3},
}
RETRIEVERS = {
    "repbert": TINY | {"architecture": "repbert", "loss": "margin"},
    "star": TINY
    | {
        "architecture": "star",
        "start": "repbert",
        "negatives": "static",
        "negatives_from": "bm25",
        "negatives_depth": 20,
    },
    "ance": TINY
    | {"architecture": "ance", "negatives": "refreshed", "rounds": 2, "negatives_depth": 20},
    "adore": TINY
    | {"architecture": "adore", "start": "star", "negatives": "dynamic", "loss": "lambda"},
    "shared": {"kind": "dense", "depth": 51, "shards": 3},
    "one": {"kind": "dense", "depth": 51},
    "indexed": {"kind": "dense", "depth": 50, "faiss": {"kind": "flat"}},
}


def study_file(place, retrievers, shown):
    study = yaml.safe_load(SMOKE.read_text())
    study["retrievers"] |= retrievers
    study["evaluation"].pop("selection_models")
    study["figures"]["figure_1"]["retrievers"] = shown
    study["experiments"] = [{"retriever": shown, "method": {"name": "naive", "depth": 50}}]
    path = place / "study.yaml"
    path.write_text(yaml.safe_dump(study, sort_keys=False))
    return path


@pytest.fixture(scope="module")
def made(smoke, tmp_path_factory):
    """The smoke study's results, and the runs of all retrievers above."""
    place = tmp_path_factory.mktemp("retrievers")
    shutil.copytree(smoke.folder / "results", place / "results")
    workflow = Workflow(place)
    shown = [name for name in RETRIEVERS if name != "shared"]
    path = study_file(place, RETRIEVERS, shown)
    workflow.run(*targets(path, "runs", "/test.run.gz", shown), configfile=path)
    return workflow, path


def targets(path, kind, ending, names):
    """Return a result of each of some retrievers of a study file."""
    study = load_study(str(path))
    collection = folder(study.collections["hpo"])
    keys = [folder(study.retrievers[name]) for name in names]
    return [f"results/{kind}/{collection}/{key}{ending}" for key in keys]


EXACT, DEEPER, INDEXED = (
    folder(DenseRetriever(**options))
    for options in ({"depth": 50}, {"depth": 51}, {"depth": 50, "faiss": {"kind": "flat"}})
)


def runs_of(workflow, pattern, split="test"):
    return workflow.path(f"runs/*/{pattern}/{split}.run.gz")


def test_every_retriever_makes_runs_of_its_own(made):
    workflow, _ = made
    found = {
        name: read_run(runs_of(workflow, f"{name}-*"))
        for name in ("repbert", "star", "ance", "adore")
    }
    for run in found.values():
        assert (run.groupby("query_id").size() == 50).all()
    texts = {run.to_csv() for run in found.values()}
    assert len(texts) == 4
    model = load(workflow.path("retrievers/*/adore-*/model/model.safetensors").parent)
    assert (model.name, model.limits) == ("adore", (8, 16))
    training = workflow.path("retrievers/*/ance-*/training.tsv").read_text().splitlines()
    assert [line.split("\t")[:2] for line in training[1:]] == [
        *(["0", "1"], ["0", "2"], ["1", "1"], ["1", "2"])
    ]


def test_a_search_that_jobs_share_has_the_bytes_of_one(made, tmp_path):
    workflow, _ = made
    single = runs_of(workflow, DEEPER).read_bytes()
    other = Workflow(tmp_path)
    shutil.copytree(workflow.folder / "results", tmp_path / "results")
    runs = runs_of(other, DEEPER).parent
    shutil.rmtree(runs)  # `shared` and `one` have one name: `shards` changes no result
    path = study_file(tmp_path, {"shared": RETRIEVERS["shared"]}, ["bm25", "shared"])
    other.run(f"results/runs/{runs.parent.name}/{runs.name}/test.run.gz", configfile=path)
    assert (runs / "test.run.gz").read_bytes() == single
    assert len(list(tmp_path.glob("results/searches/*/*/*.rows.npy"))) == 3


def test_a_flat_index_finds_what_the_exact_search_finds(made):
    workflow, _ = made
    exact, indexed = (read_run(runs_of(workflow, name)) for name in (EXACT, INDEXED))
    same = set(zip(exact["query_id"], exact["document_id"], exact["score"], strict=True)) & set(
        zip(indexed["query_id"], indexed["document_id"], indexed["score"], strict=True)
    )
    assert len(same) > 0.99 * len(exact)


def test_a_run_from_elsewhere_is_taken_up_and_the_gate_stops_a_wrong_one(made, tmp_path):
    workflow, _ = made
    other = Workflow(tmp_path)
    shutil.copytree(workflow.folder / "results", tmp_path / "results")
    source = runs_of(workflow, "bm25*").parent
    lines = []
    for split in ("train", "dev", "test"):
        run = read_run(source / f"{split}.run.gz")
        rows = zip(run["query_id"], run["document_id"], run["rank"], strict=True)
        lines += [f"{query}\t{document}\t{rank}\n" for query, document, rank in rows]
    with gzip.open(tmp_path / "away.tsv.gz", "wt") as file:
        file.writelines(lines)
    expected = {"measure": "R@50", "value": 0.0, "tolerance": 0.001}
    away = {"kind": "run", "run": "away.tsv.gz", "depth": 50, "coverage": 0.5}
    path = study_file(tmp_path, {"away": away | {"expected": expected}}, ["bm25", "away"])
    said = other.run(*targets(path, "gates", ".json", ["away"]), configfile=path, check=False)
    assert "R@50 is 0." in said
    assert "need 0.0000 within 0.001" in said
    jobs = other.jobs("figure_1", configfile=path)  # a ranker waits for the gate
    assert (jobs["check_retrieval"], jobs["train_ranker"]) == (1, 1)
    imported = read_run(runs_of(other, "run-*"))
    assert (
        imported["document_id"].tolist() == read_run(source / "test.run.gz")["document_id"].tolist()
    )
    found = float(said.split("R@50 is ")[1].split(",")[0])
    right = away | {"expected": expected | {"value": found}}
    path = study_file(tmp_path, {"away": right}, ["bm25", "away"])
    other.run(*targets(path, "gates", ".json", ["away"]), configfile=path)
    gate = json.loads(other.path("gates/*/run-*.json").read_text())
    assert abs(gate["found"] - found) < 1e-4
