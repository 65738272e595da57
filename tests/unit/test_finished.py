"""What a training that finished unseen leaves for the next job of the same training."""

import os

import pytest

from poolbias.stage import Job
from poolbias.training import finished

FILES = {
    "r": "R/model.safetensors",
    "s": "S/model.safetensors",
    "training": "training.tsv",
    "manifest": "manifest.json",
}


def job_in(folder, **changes):
    """Return a job of a training whose results go to `folder`."""
    files = {name: [folder / "seed-1" / path] for name, path in FILES.items()}
    snapshot = folder / "seed-1" / "snapshots" / "step-3" / "R" / "model.safetensors"
    files |= {"snapshots": [snapshot], "tokens": [folder / "tokens"]}
    given = {"seed": 1, "code": "abc"}
    job = Job(
        name="train_coupled_ranker",
        parameters=given,
        files=files,
        inputs=["tokens"],
        given=given,
        outputs=[*FILES, "snapshots"],
        checkpoints=folder / "checkpoints",
        hashes={folder / "tokens": "0123"},
    )
    for name, value in changes.items():
        setattr(job, name, value)
    return job


def train(job):
    """Write what a training writes, and report as it does."""
    for name in job.outputs:
        for path in job.paths(name):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{name} of the first")
            if path.suffix == ".safetensors":
                (path.parent / "config.json").write_text("{}")
    job.also_made(job.path("r").parent / "config.json")
    job.report(loss_at_end=0.25)


@pytest.fixture
def job(tmp_path):
    """A training that finished and was kept; its results were then removed, as Snakemake does."""
    job = job_in(tmp_path)
    train(job)
    finished.keep(job)
    for name in job.outputs:
        for path in job.paths(name):
            path.unlink()
    return job


def test_the_next_job_of_the_same_training_gets_its_results(job, tmp_path, caplog):
    caplog.set_level("INFO", "poolbias")
    following = job_in(tmp_path)
    assert finished.take(following)
    for name in ("r", "s", "training", "snapshots"):
        (path,) = following.paths(name)
        assert path.read_text() == f"{name} of the first"
        assert path.with_name("config.json").exists() == (path.suffix == ".safetensors")
    assert not following.path("manifest").exists()  # the stage writes its own
    assert following.figures == {"loss_at_end": 0.25}
    assert following.files["beside"] == job.files["beside"]
    assert "nothing is trained" in caplog.text


def test_taken_results_are_newer_than_inputs_and_take_no_more_space(job, tmp_path):
    kept = tmp_path / "seed-1" / ".lease" / "finished" / "0"
    os.utime(kept, (0, 0))
    assert finished.take(job)
    assert job.path("r").samefile(kept)
    assert job.path("r").stat().st_mtime > 0


@pytest.mark.parametrize(
    "changes",
    [
        {"given": {"seed": 1, "code": "abd"}},
        {"given": {"seed": 2, "code": "abc"}},
        {"hashes": {"tokens": "0124"}},
        {"outputs": ["r", "training"]},
    ],
)
def test_another_training_gets_nothing(job, tmp_path, changes):
    assert not finished.take(job_in(tmp_path, **changes))
    assert not job.path("r").exists()


def test_nothing_is_taken_where_nothing_finished_or_the_record_is_torn(job, tmp_path):
    assert not finished.take(job_in(tmp_path / "elsewhere"))
    (tmp_path / "seed-1" / ".lease" / "finished" / "record.json").write_text('{"made_by"')
    assert not finished.take(job)


def test_a_stage_that_is_run_by_hand_trains_each_time(job, tmp_path):
    assert not finished.take(job_in(tmp_path, checkpoints=None))
    by_hand = job_in(tmp_path / "by_hand", checkpoints=None)
    train(by_hand)
    finished.keep(by_hand)
    assert not (tmp_path / "by_hand" / "seed-1" / ".lease").exists()
    assert finished.take(job)


def test_a_second_training_replaces_what_the_first_left(job, tmp_path):
    second = job_in(tmp_path, given={"seed": 1, "code": "new"})
    train(second)
    second.path("training").write_text("of the second")
    finished.keep(second)
    second.path("training").unlink()
    assert not finished.take(job)
    assert finished.take(second)
    assert second.path("training").read_text() == "of the second"


def test_where_links_cannot_be_made_it_copies(job, tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(finished.os, "link", refuse)
    assert finished.take(job)
    assert job.path("r").read_text() == "r of the first"
    assert job.path("r").stat().st_nlink == 1


def test_what_cannot_be_kept_does_not_fail_the_training(tmp_path, caplog):
    job = job_in(tmp_path)
    train(job)
    (tmp_path / "seed-1" / ".lease").write_text("a file in the way")
    finished.keep(job)
    assert "no links to the results are kept" in caplog.text


def test_forgetting_leaves_the_results_and_other_trainings(tmp_path):
    results = tmp_path / "results"
    kept = []
    for name in ("one", "two"):
        job = job_in(results / "rankers" / name)
        train(job)
        finished.keep(job)
        kept.append(finished.folder_of(job) / "finished")
    finished.forget(results, [("one", 1), ("one", 2), ("three", 1)])
    assert [path.exists() for path in kept] == [False, True]
    assert (results / "rankers" / "one" / "seed-1" / "R" / "model.safetensors").exists()
