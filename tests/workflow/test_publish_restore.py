"""A fresh clone that takes up a published study: it draws, and trains nothing again."""

import json
import shutil
import subprocess
import sys

import pytest
from conftest import ROOT, Workflow
from pages import blocks_of, copy_repository, run

MADE_BEFORE = {
    *("train_ranker", "train_coupled_ranker", "rerank", "evaluate", "score_candidates"),
    *("build_candidates", "build_labels", "search_bm25", "search_dense", "encode_texts"),
    *("count_false_negatives", "estimate_rank_relevance", "probe_weights", "build_index"),
}


def test_the_page_is_followed(smoke, tmp_path):
    root = copy_repository(tmp_path, smoke)
    said = "".join(
        run(block.text.replace("source .venv/bin/activate\n", ""), root)
        for block in blocks_of(ROOT / "docs" / "publishing.md")
        if block.language == "bash"
    )
    assert "restored below results/restored/" in said
    assert "train_ranker" not in said
    assert (root / "results" / "smoke" / "tables" / "table_1.md").is_file()


def poolbias(root, *arguments):
    done = subprocess.run(
        [sys.executable, "-m", "poolbias", *(str(each) for each in arguments)],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def clone(smoke, tmp_path):
    """A clone without results, beside which the smoke study was published; it is not restored."""
    root = copy_repository(tmp_path / "clone")
    results = smoke.folder / "results"
    code, told, left_out = poolbias(root, "publish", "config/smoke.yaml", "--results", results)
    assert (code, left_out) == (0, ""), told
    return Workflow(root, root=root)


def test_a_clone_that_restores_draws_the_same_and_trains_nothing(smoke, clone):
    published = clone.folder / "docs" / "results" / "smoke"
    assert (published / "figures" / "figure_1.svg").is_file()
    assert (published / "claims.tsv").is_file()
    assert MADE_BEFORE & set(clone.jobs(configfile=clone.root / "config/smoke.yaml"))

    code, told, refused = poolbias(clone.root, "restore", "docs/results/smoke")
    assert (code, refused) == (0, ""), told
    study = clone.root / "config" / "smoke.yaml"
    jobs = clone.jobs(configfile=study)
    assert not MADE_BEFORE & set(jobs)
    assert jobs["build_collection"] == 1

    clone.run("figure_1", "table_1", "summarise_metrics", configfile=study)
    for name in ("smoke/figures/figure_1.tsv", "smoke/metrics.tsv", "smoke/tables/table_1.tsv"):
        assert clone.path(name).read_bytes() == smoke.path(name).read_bytes()
    manifest = json.loads(clone.path("smoke/metrics.manifest.json").read_text())
    assert len(manifest["restored"]) == len(manifest["inputs"]) - 1
    assert all(name.startswith("results/restored/") for name in manifest["restored"])
    assert clone.jobs("figure_1", configfile=study) == {}


def test_one_more_seed_trains_that_seed_alone(clone):
    poolbias(clone.root, "restore", "docs/results/smoke")
    study = clone.root / "config" / "smoke.yaml"
    output = clone.run("--dry-run", "table_1", "--config", "seeds=[1,2]", configfile=study)
    trained = [line for line in output.splitlines() if ": Train " in line]
    teachers = [line for line in trained if "seed 1" in line]  # of the new seed's negatives
    assert len(trained) > 5
    assert len(teachers) <= 1
    assert all("seed 2" in line for line in trained if line not in teachers)


def test_a_training_beside_restored_metrics_makes_no_other(smoke, clone):
    poolbias(clone.root, "restore", "docs/results/smoke")
    ranker = next((smoke.folder / "results" / "rankers").glob("*.cet-paper-tau1.*"))
    target = f"results/rankers/{ranker.name}/seed-1/R/model.safetensors"
    jobs = clone.jobs("all", target, configfile=clone.root / "config" / "smoke.yaml")
    assert jobs["train_coupled_ranker"] == 1
    assert not {"train_ranker", "rerank", "evaluate"} & set(jobs)


def test_metrics_of_other_code_are_refused_and_made_again(clone):
    loss = clone.root / "poolbias" / "weights" / "coupling.py"
    code, told, _ = poolbias(clone.root, "restore", "docs/results/smoke")
    assert code == 0, told
    loss.write_text(loss.read_text().replace("return 1.0 +", "return 1.5 +"))
    study = clone.root / "config" / "smoke.yaml"
    output = clone.run("--dry-run", configfile=study)
    assert "train_coupled_ranker): work at commit" in output
    jobs = clone.jobs(configfile=study)
    assert jobs["train_coupled_ranker"] > 1
    assert "train_ranker" not in jobs
    shutil.rmtree(clone.folder / "results")
    code, told, refused = poolbias(clone.root, "restore", "docs/results/smoke")
    assert code == 1
    assert "work at commit" in refused
