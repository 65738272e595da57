"""Runs of Snakemake that start at the same moment on one results folder: all is made once."""

import os
import re
import shutil
import subprocess
import sys
from collections import Counter

import pytest
from conftest import ROOT, SMOKE, Workflow
from pages import copy_repository

BROUGHT = ("collections", "indexes", "encodings", "runs", "tokens", "candidates", ".records")


@pytest.fixture
def shared(smoke, tmp_path):
    """A results folder in which everything up to the trainings is there."""
    results = tmp_path / "shared"
    results.mkdir()
    for name in BROUGHT:
        if (smoke.folder / "results" / name).exists():
            shutil.copytree(smoke.folder / "results" / name, results / name)
    shutil.rmtree(results / ".records" / "rankers", ignore_errors=True)
    return results


def place(folder, results):
    """Make a working folder whose results are the shared ones."""
    folder.mkdir()
    (folder / "results").symlink_to(results)
    return folder


def start(root, folder, *targets):
    return subprocess.Popen(
        [
            *(sys.executable, "-m", "snakemake", *targets, "--cores", "1"),
            *("--snakefile", root / "Snakefile", "--directory", folder, "--configfile", SMOKE),
        ],
        cwd=root,
        env=os.environ | {"COLUMNS": "200"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def made(output):
    """Return how many jobs of each rule a run of Snakemake finished."""
    return Counter(re.findall(r"^Finished jobid: \d+ \(Rule: (\w+)\)", output, re.MULTILINE))


def test_runs_that_start_together_train_an_experiment_once(smoke, shared, tmp_path):
    pattern = "results/metrics/rankings/*.bm25.naive.*/seed-1/bm25*/top-*/*.tsv"
    metrics = sorted(str(path.relative_to(smoke.folder)) for path in smoke.folder.glob(pattern))
    assert len(metrics) == 2  # by truth and by labels
    clone = copy_repository(tmp_path / "clone")
    users = {
        "one": (ROOT, metrics[:1]),
        "two": (clone, metrics[:1]),  # the same
        "three": (ROOT, metrics[1:]),  # another measurement of the same ranking
    }
    running = [
        start(root, place(tmp_path / name, shared), *targets)
        for name, (root, targets) in users.items()
    ]
    outputs = [process.communicate()[0] for process in running]
    for process, output in zip(running, outputs, strict=True):
        assert process.returncode == 0, output
    done = sum(map(made, outputs), Counter())
    assert done == {"train_ranker": 1, "rerank": 1, "evaluate": 2}
    assert any("waiting until" in output for output in outputs)
    for name in metrics:
        found = (shared.parent / "one" / name).read_bytes()
        assert found == (smoke.folder / name).read_bytes()
    assert list((shared / ".runs").iterdir()) == []


def test_in_one_working_folder_the_second_run_waits_for_the_first(smoke, shared, tmp_path):
    folder = place(tmp_path / "work", shared)
    ranker = next(smoke.folder.glob("results/rankers/*.bm25.naive.*/seed-1/manifest.json"))
    target = str(ranker.relative_to(smoke.folder))
    running = [start(ROOT, folder, target) for _ in range(2)]
    outputs = [process.communicate()[0] for process in running]
    assert [process.returncode for process in running] == [0, 0], outputs
    assert sum(map(made, outputs), Counter()) == {"train_ranker": 1}
    assert sum("runs in this folder: waiting" in output for output in outputs) == 1
    assert sum("Nothing to be done" in output for output in outputs) == 1
    assert list((shared / ".runs").iterdir()) == []
    study = Workflow(folder)
    assert study.jobs(target) == {}
