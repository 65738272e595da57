"""Runs of Snakemake on one results folder: who waits for whom, for what, and how long."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from poolbias import sharing
from poolbias.files import write_json

ROOT = Path(__file__).resolve().parents[2]


def forked(work):
    """Do `work` in a process of its own, which then waits to be killed."""
    child = os.fork()
    if child == 0:
        try:
            work()
            time.sleep(60)
        finally:
            os._exit(1)
    return child


def ended(child):
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


@pytest.fixture
def results(tmp_path, monkeypatch):
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    (tmp_path / "results").mkdir()
    for clone in ("one", "two"):
        (tmp_path / clone / "results").symlink_to(tmp_path / "results")
    monkeypatch.chdir(tmp_path / "two")
    return tmp_path / "results"


def other(results, claims, clone="one", makes_after=0.0):
    """Start another run in a clone; it makes the files that it claims after some time."""

    def work():
        os.chdir(results.parent / clone)
        run = sharing.enter(sharing.Path("results"))
        (results / "entered").touch()
        if claims is not None:
            run.claim(claims)
            time.sleep(makes_after)
            for claim in claims if makes_after else []:
                sharing.Path(claim).write_text("made")

    child = forked(work)
    while not (results / "entered").exists() or (claims is not None and unclaimed(results)):
        time.sleep(0.01)
    return child


def unclaimed(results):
    (card,) = (results / ".runs").glob("*.json")
    return sharing._read(card).get("files") is None


def waited(run, makes):
    """Return how long a run waits."""
    started = time.monotonic()
    run.wait(makes, look=0.02)
    return time.monotonic() - started


def test_a_run_alone_waits_for_nobody_and_leaves_nothing(results):
    child = forked(lambda: (waited(sharing.enter(results), bool), os._exit(7)))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7  # without its end of process
    run = sharing.enter(results)
    assert run.name.startswith("000002-")
    assert waited(run, lambda file: True) < 1  # the other is gone: its card is removed
    assert [path.name for path in (results / ".runs").glob("*.json")] == [run.card.name]
    sharing._remove(run.folder, run.name)
    assert list((results / ".runs").iterdir()) == []


def test_a_run_that_ends_in_another_folder_leaves_nothing_either(results):
    code = (
        "import os\nfrom pathlib import Path\nfrom poolbias import sharing\n"
        "run = sharing.enter(Path('results'))\n"
        "run.claim(['results/a'])\nassert run.card.exists()\n"
        "os.chdir('/')\n"  # as Snakemake does with --directory
    )
    environment = os.environ | {"PYTHONPATH": os.fspath(ROOT)}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
    assert list((results / ".runs").iterdir()) == []


def test_a_later_run_waits_until_what_both_want_is_made(results, caplog):
    child = other(results, ["results/a", "results/b"], makes_after=0.6)
    try:
        run = sharing.enter(sharing.Path("results"))
        waited(run, lambda file: file == "results/b")
        assert (results / "b").read_text() == "made"
        assert "is making 1 file that this study needs too (results/b, say)" in caplog.text
        assert caplog.text.count("waiting until") == 1
    finally:
        ended(child)


def test_what_was_there_before_the_other_began_is_not_what_it_will_make(results, caplog):
    (results / "a").write_text("old")
    time.sleep(0.02)
    child = other(results, ["results/a"], makes_after=0.6)
    try:
        waited(sharing.enter(results), bool)
        assert (results / "a").read_text() == "made"
    finally:
        ended(child)


def test_a_later_run_that_wants_other_things_does_not_wait(results):
    child = other(results, ["results/a"])
    try:
        assert waited(sharing.enter(results), lambda file: file == "results/c") < 1
    finally:
        ended(child)


def test_a_run_that_was_killed_is_waited_for_no_longer(results, caplog):
    child = other(results, ["results/a"])
    run = sharing.enter(results)
    killer = os.fork()
    if killer == 0:
        time.sleep(0.3)
        os.kill(child, signal.SIGKILL)
        os._exit(0)
    waited(run, bool)
    assert "waiting until they are there" in caplog.text
    assert not (results / "a").exists()
    os.waitpid(killer, 0)
    os.waitpid(child, 0)


def test_who_does_not_know_yet_what_it_makes_is_waited_for(results, caplog):
    child = other(results, None)
    run = sharing.enter(results)
    killer = os.fork()
    if killer == 0:
        time.sleep(0.3)
        os.kill(child, signal.SIGKILL)
        os._exit(0)
    waited(run, lambda file: False)
    assert "started before: waiting until it knows" in caplog.text
    os.waitpid(killer, 0)
    os.waitpid(child, 0)


def test_in_one_folder_the_second_waits_for_the_end_of_the_first(results, caplog):
    child = other(results, [], clone="two")
    run = sharing.enter(results)
    killer = os.fork()
    if killer == 0:
        time.sleep(0.3)
        os.kill(child, signal.SIGKILL)
        os._exit(0)
    waited(run, lambda file: False)
    assert "runs in this folder: waiting until it has ended" in caplog.text
    os.waitpid(killer, 0)
    os.waitpid(child, 0)


def test_an_earlier_run_does_not_wait_for_a_later_one(results):
    run = sharing.enter(results)
    (results / "later").touch()
    write_json(results / ".runs" / "000009-later.json", {"directory": "x", "files": None})
    assert waited(run, bool) < 1


@pytest.mark.parametrize(
    ("words", "dry", "main", "expected"),
    [
        (["figure_1", "--cores", "2"], False, True, True),
        (["figure_1"], True, True, False),
        (["figure_1"], False, False, False),
        (["--unlock"], False, True, False),
        (["--list-target-rules"], False, True, False),
        (["doctor"], False, True, False),
    ],
)
def test_only_calls_that_run_jobs_take_part(words, dry, main, expected):
    assert sharing.runs_jobs(words, dry, main) == expected
