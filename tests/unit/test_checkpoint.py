"""Trainings that die at any step and go on: the same bytes as those that were left alone."""

import logging
import os
import random
import resource
import signal
import time
import traceback
from types import SimpleNamespace

import pandas as pd
import pytest
from safetensors.torch import save_file
from test_training import TRAINING, Features, Toy, coupled, table, toy_scores

from poolbias import models
from poolbias.files import sha256_of
from poolbias.stage import Job
from poolbias.training import run
from poolbias.training.checkpoint import KEPT, SUMS, Checkpoints
from poolbias.training.loop import Trainer

STEPS = 12


class Kind:
    """A registry's module of a ranker, around the toy of the training's tests."""

    scores = staticmethod(toy_scores)

    @staticmethod
    def start(parameters, seed):
        return Toy(seed, parameters["dropout"])

    @staticmethod
    def save(model, folder):
        folder.mkdir(parents=True, exist_ok=True)
        save_file(model.state_dict(), folder / "model.safetensors")


@pytest.fixture(autouse=True, scope="module")
def toys():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(models, "ranker", lambda name: Kind)
        patch.setattr(run, "TokenStore", lambda folder: Features())
        patch.setattr(run, "Candidates", SimpleNamespace(load=lambda folder: table()))
        yield


def job(folder, weight=None, minutes=0.0, steps=STEPS, snapshots=(3, 7)):
    """Return a training whose files lie in `folder`; with 0 minutes each step has a checkpoint."""
    parameters = {
        "training": TRAINING | {"steps": steps},
        "loss": "pairwise_cross_entropy",
        "weight": weight or coupled() | {"adjust": {"normalise": "running_mean"}},
        "limits": {"query": 4, "document": 4, "sequence": None},
        "precision": "float32",
        "ranker": {"kind": "toy", "dropout": 0.5},
        **{"device": "cpu", "threads": 1, "seed": 3},
    }
    files = {
        **{"tokens": [folder / "tokens"], "candidates": [folder / "candidates"]},
        **{name: [folder / f"{name}.tsv"] for name in ("training", "timing")},
        **{name: [folder / name.upper() / "model.safetensors"] for name in "rs"},
        "snapshots": [
            folder / "snapshots" / f"step-{step}" / name / "model.safetensors"
            for step in snapshots
            for name in "RS"
        ],
    }
    checkpoints = None if minutes is None else folder / "checkpoints"
    outputs = ["r", "s", "training", "timing", "snapshots"]
    return Job("toy", parameters, files, [], {}, outputs, checkpoints, minutes or 0.0)


def train(folder, **options):
    run.train(job(folder, **options), ("R", "S"))


def forked(folder, before=lambda: None, **options):
    """Start a training in a process of its own."""
    child = os.fork()
    if child == 0:
        try:
            before()
            train(folder, **options)
            os._exit(0)
        except SystemExit as end:
            os._exit(end.code)
        except BaseException:
            traceback.print_exc()
            os._exit(99)
    return child


def ended(child):
    """Wait for a process; return its exit code, below 0 for the signal that killed it."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def results(folder):
    files = [*folder.glob("**/[RS]/[!.]*"), folder / "training.tsv"]
    files = [file for file in files if "checkpoints" not in file.parts and file.parts[-3][0] != "."]
    return {str(file.relative_to(folder)): sha256_of(file) for file in files}


def steps_kept(folder):
    (kept,) = (folder / "checkpoints").iterdir()
    return sorted(int(path.name[5:]) for path in kept.glob("step-*"))


@pytest.fixture(scope="module")
def alone(toys, tmp_path_factory):
    """The results of the training that nothing disturbs and that keeps no checkpoint."""
    folder = tmp_path_factory.mktemp("alone")
    train(folder, minutes=None)
    assert len(results(folder)) == 7
    assert not (folder / "checkpoints").exists()
    return results(folder)


def test_a_training_killed_at_random_moments_ends_with_the_same_bytes(tmp_path, alone):
    moments = random.Random(1)
    kills, resumed_from = 0, set()
    while kills < 12:
        folder = tmp_path / str(kills)
        folder.mkdir()
        patience = 0.0
        while True:
            child = forked(folder)
            patience += 0.03  # however slow the machine is now
            time.sleep(moments.uniform(0.0, patience))
            os.kill(child, signal.SIGKILL)
            if ended(child) == 0:
                break
            kills += 1
            if any(folder.glob("checkpoints/*/step-*")):
                resumed_from.add(steps_kept(folder)[-1])
            for outputs in job(folder).files.values():  # as Snakemake does
                for output in outputs:
                    output.unlink(missing_ok=True)
        assert results(folder) == alone
        table = pd.read_csv(folder / "timing.tsv", sep="\t")
        assert table["step"].tolist() == list(range(1, STEPS + 1))
    assert len(resumed_from) >= 2, resumed_from


def stopped(folder, number, after=2, **options):
    """Start a training that gets a signal while it does step `after` + 1."""

    def signal_at():
        step = Trainer._step

        def signalled(self, count, triples):
            if count == after + 1:
                os.kill(os.getpid(), number)
            return step(self, count, triples)

        Trainer._step = signalled

    return ended(forked(folder, signal_at, **options))


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_ends_a_training_after_its_step_with_a_checkpoint(tmp_path, alone, number, code):
    assert stopped(tmp_path, number, minutes=60) == code
    assert steps_kept(tmp_path) == [3]
    assert not (tmp_path / "training.tsv").exists()
    train(tmp_path)
    assert results(tmp_path) == alone


def test_a_warning_signal_only_asks_for_a_checkpoint(tmp_path, alone):
    assert stopped(tmp_path, signal.SIGUSR1, minutes=60) == 0
    assert steps_kept(tmp_path) == [3]
    assert results(tmp_path) == alone


def test_without_a_folder_a_signal_does_as_before(tmp_path):
    assert stopped(tmp_path, signal.SIGTERM, minutes=None) == -signal.SIGTERM


def cut(file):
    file.write_bytes(file.read_bytes()[:-1])


def flip(file):
    found = bytearray(file.read_bytes())
    found[len(found) // 2] ^= 1
    file.write_bytes(found)


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        *(
            (name, damage)
            for name in ("tensors.safetensors", "state.json")
            for damage in (cut, flip)
        ),
        ("state.json", lambda file: file.unlink()),
        (SUMS, lambda file: file.write_text("")),
    ],
)
def test_a_torn_checkpoint_is_told_of_and_the_one_before_is_taken(
    tmp_path, alone, caplog, name, damage
):
    assert stopped(tmp_path, signal.SIGTERM, after=8) == 143
    assert steps_kept(tmp_path) == [8, 9]
    assert KEPT == 2
    (kept,) = (tmp_path / "checkpoints").iterdir()
    damage(kept / "step-9" / name)
    with caplog.at_level(logging.INFO):
        train(tmp_path)
    assert "step-9: passed over" in caplog.text
    assert "goes on after step 8" in caplog.text
    assert results(tmp_path) == alone


def test_where_every_checkpoint_is_torn_the_training_starts_anew(tmp_path, alone, caplog):
    assert stopped(tmp_path, signal.SIGTERM, after=8) == 143
    for file in tmp_path.glob("checkpoints/*/*/tensors.safetensors"):
        flip(file)
    train(tmp_path)
    assert caplog.text.count("passed over") == 2
    assert results(tmp_path) == alone


def test_a_checkpoint_without_a_snapshot_that_is_asked_for_is_passed_over(tmp_path, caplog):
    assert stopped(tmp_path, signal.SIGTERM, after=4) == 143
    with caplog.at_level(logging.INFO):
        train(tmp_path, snapshots=(2, 3))
    assert "lacks the snapshot step-2/R" in caplog.text
    train(tmp_path / "alone", minutes=None, snapshots=(2, 3))
    copy = {f"alone/{name}": digits for name, digits in results(tmp_path / "alone").items()}
    found = results(tmp_path)
    assert {f"alone/{name}": found[name] for name in found if f"alone/{name}" in copy} == copy
    assert steps_kept(tmp_path) == [11, 12]


def test_a_full_disk_costs_the_checkpoint_and_not_the_training(tmp_path, alone, capfd):
    def small():
        logging.getLogger("poolbias").addHandler(logging.StreamHandler())
        resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))

    # A checkpoint with the names of its tensors is larger; the results of two steps are not.
    assert ended(forked(tmp_path, small, steps=2, snapshots=())) == 0
    assert "no checkpoint after step 2" in capfd.readouterr().err
    assert list(tmp_path.glob("checkpoints/*/step-*")) == []


def test_what_is_not_finite_survives_a_checkpoint(tmp_path):
    trainer = SimpleNamespace(
        done=2,
        learners=[],
        watch=SimpleNamespace(state=lambda: {"means": {"w_r": [float("inf"), 1.5]}}),
    )
    kept = Checkpoints(tmp_path, 0.0)
    rows = [{"step": 1, "x": float("nan")}, {"step": 2, "x": 0.1}]
    for row in rows:
        kept.after_step(trainer, row, {"step": row["step"], "seconds": 0.5})
    found = {}
    trainer.watch = SimpleNamespace(restore=found.update)
    again = Checkpoints(tmp_path, 0.0)
    again.resume(trainer, [])
    assert repr(again.rows) == repr(rows)  # integers stay integers, NaN is NaN
    assert found == {"means": {"w_r": [float("inf"), 1.5]}}
