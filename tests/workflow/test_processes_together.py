"""A training by two processes through its stage's script, on the smoke study's files."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from conftest import ROOT
from safetensors.torch import load_file

STEPS = 6


def command(smoke, folder, processes):
    """Return the command of CET's training without dropout, by so many processes."""
    told = smoke.path("logs/train_coupled_ranker/*cet-paper-tau1.*/seed-1.json")
    parameters = json.loads(told.read_text()) | {"processes": processes}
    parameters["ranker"] |= {"dropout": 0.0, "head_dropout": 0.0}
    parameters["training"]["steps"] = STEPS
    folder.mkdir(exist_ok=True)
    (folder / "parameters.json").write_text(json.dumps(parameters))
    manifest = smoke.path("rankers/*cet-paper-tau1.*/seed-1/manifest.json")
    inputs = json.loads(manifest.read_text())["inputs"]
    options = {"parameters": folder / "parameters.json", "checkpoints": folder / "checkpoints"}
    options |= {"checkpoint-minutes": 0}
    for name in ("tokens", "candidates"):
        (options[name],) = (smoke.folder / i for i in inputs if i.startswith(f"results/{name}/"))
    options |= {name: folder / f"{name}.tsv" for name in ("training", "timing")}
    options |= {name: folder / name.upper() / "model.safetensors" for name in "rs"}
    options["manifest"] = folder / "manifest.json"
    words = [str(word) for name, value in options.items() for word in (f"--{name}", value)]
    return [sys.executable, str(ROOT / "workflow/scripts/train_coupled_ranker.py"), *words]


def weights(folder):
    return {name: load_file(folder / name / "model.safetensors") for name in "RS"}


@pytest.fixture(scope="module")
def two(smoke, tmp_path_factory):
    folder = tmp_path_factory.mktemp("two")
    subprocess.run(command(smoke, folder, 2), check=True)
    return folder


def test_two_processes_train_as_one(smoke, two, tmp_path):
    subprocess.run(command(smoke, tmp_path, 1), check=True)
    one, other = (pd.read_csv(folder / "training.tsv", sep="\t") for folder in (tmp_path, two))
    assert list(one) == list(other)
    np.testing.assert_allclose(other, one, rtol=2e-3, atol=1e-5)
    tokens = [pd.read_csv(f / "timing.tsv", sep="\t")["tokens"].tolist() for f in (tmp_path, two)]
    assert tokens[0] == tokens[1]
    for name, found in weights(two).items():
        for key, value in weights(tmp_path)[name].items():
            np.testing.assert_allclose(found[key], value, atol=2e-4, err_msg=key)


def test_they_go_on_where_a_signal_stopped_them(smoke, two, tmp_path):
    words = command(smoke, tmp_path, 2)
    with subprocess.Popen(words, start_new_session=True) as training:
        while not list(tmp_path.glob("checkpoints/*/step-*")):
            assert training.poll() is None
            time.sleep(0.01)
        os.killpg(training.pid, signal.SIGTERM)  # the other process ignores it
    assert training.returncode == 143
    subprocess.run(words, check=True)
    assert (tmp_path / "training.tsv").read_bytes() == (two / "training.tsv").read_bytes()
    for name, found in weights(tmp_path).items():
        for key, value in weights(two)[name].items():
            assert found[key].equal(value), key
