"""Leases: one holder at a time, whatever dies, and nothing that is alive is taken over."""

import json
import os
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path

import pytest

from poolbias import lease
from poolbias.errors import TrainingError

FAST = {"beat": 0.05, "patience": 0.5, "look": 0.02}

# Holds the lease until a file appears, and tells when it has it.
HOLDER = """
import sys, time
from pathlib import Path
from poolbias import lease
folder = Path(sys.argv[1])
with lease.hold(folder, "work", beat=0.05, look=0.02):
    (folder / "held").touch()
    while not (folder / "end").exists():
        time.sleep(0.02)
"""


@pytest.fixture
def holder(tmp_path):
    """Another process that holds the lease."""
    process = subprocess.Popen([sys.executable, "-c", HOLDER, tmp_path])
    wait_for((tmp_path / "held").exists)
    yield process
    process.kill()
    process.wait()


def wait_for(condition):
    for _ in range(1000):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError("it did not happen within 10 s")


def kill(process):
    """Kill a process without waiting for it, so that it stays as a zombie."""
    process.kill()
    wait_for(lambda: ") Z " in Path(f"/proc/{process.pid}/stat").read_text())


def sign(folder, generation=1, **changes):
    """Write the file of a holder that is not this process."""
    told = {"host": "elsewhere", "machine": "elsewhere 1 2", "pid": 7, "started": "5", "beats": 0}
    path = folder / f"work.{generation}"
    path.write_text(json.dumps(told | {"slurm_job": None, "released": False} | changes))
    return path


class Clock:
    """A clock that only runs while the lease sleeps, and does things at set times."""

    def __init__(self):
        self.now, self.events = 0.0, {}

    def monotonic(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds
        for due in [due for due in self.events if due <= self.now]:
            self.events.pop(due)()
        assert self.now < 10_000, "it waits for ever"


@pytest.fixture
def clock(monkeypatch):
    monkeypatch.setattr(lease, "time", Clock())
    return lease.time


def wait_of(folder, clock):
    """Return the seconds that it takes to get the lease, on the clock."""
    with lease.hold(folder, "work"):
        return clock.now


def test_a_lease_is_free_at_first_and_free_again_after_its_holder(tmp_path):
    for generation in (1, 2, 3):
        with lease.hold(tmp_path, "work", **FAST) as held:
            assert held.path == tmp_path / f"work.{generation}"
            held.check()
        assert [path.name for path in tmp_path.iterdir()] == [f"work.{generation}"]
    assert json.loads(held.path.read_text())["released"]


def test_it_is_given_back_when_the_block_raises(tmp_path):
    with pytest.raises(SystemExit), lease.hold(tmp_path, "work", **FAST) as held:
        sys.exit(143)  # what SIGTERM makes of a stage
    assert json.loads(held.path.read_text())["released"]


def test_leases_of_other_names_are_others(tmp_path):
    with lease.hold(tmp_path, "work", **FAST), lease.hold(tmp_path, "other", **FAST):
        names = sorted(path.name for path in tmp_path.glob("[!.]*"))
    assert names == ["other.1", "work.1"]


def test_a_second_process_waits_for_the_first(tmp_path, holder, caplog):
    caplog.set_level("INFO", "poolbias")
    threading.Timer(0.5, (tmp_path / "end").touch).start()
    with lease.hold(tmp_path, "work", **FAST):
        assert (tmp_path / "end").exists()
    assert f"process {holder.pid} on " in caplog.text
    assert caplog.text.count("works on it, this job waits") == 1


def test_a_holder_tells_that_it_lives(tmp_path, holder):
    before = (tmp_path / "work.1").read_text()
    wait_for(lambda: (tmp_path / "work.1").read_text() != before)


def test_a_killed_process_of_this_machine_is_followed_at_once(tmp_path, holder, clock):
    clock.events = {20: partial(kill, holder)}
    assert 20 <= wait_of(tmp_path, clock) < lease.PATIENCE
    assert holder.poll() is not None


def test_a_process_id_that_another_process_has_now_is_no_sign_of_life(tmp_path, clock):
    parent = lease.owner() | {"pid": os.getppid()}
    sign(tmp_path, machine=parent["machine"], pid=parent["pid"], started="1")
    assert wait_of(tmp_path, clock) == 0


def test_a_process_of_this_machine_that_is_stopped_is_not_given_up(tmp_path, clock):
    parent = lease.owner() | {"pid": os.getppid()}
    started = Path(f"/proc/{parent['pid']}/stat").read_text().rpartition(")")[2].split()[19]
    sign(tmp_path, machine=parent["machine"], pid=parent["pid"], started=started)
    with pytest.raises(AssertionError, match="waits for ever"):
        wait_of(tmp_path, clock)


def test_a_holder_elsewhere_is_given_up_after_the_patience_and_not_before(tmp_path, clock):
    sign(tmp_path)
    clock.events = {seconds: partial(sign, tmp_path, beats=seconds) for seconds in (100, 390)}
    assert 390 + lease.PATIENCE < wait_of(tmp_path, clock) <= 390 + lease.PATIENCE + 2 * lease.LOOK
    assert not (tmp_path / "work.1").exists()


def test_a_holder_elsewhere_that_ends_is_followed_at_the_next_look(tmp_path, clock):
    sign(tmp_path)
    clock.events = {100: partial(sign, tmp_path, released=True)}
    assert wait_of(tmp_path, clock) == 100


def test_the_age_of_a_file_is_no_matter_since_clocks_differ(tmp_path, clock):
    os.utime(sign(tmp_path), (0, 0))
    assert wait_of(tmp_path, clock) > lease.PATIENCE


def test_a_torn_file_is_followed_after_the_patience(tmp_path, clock):
    (tmp_path / "work.3").write_text('{"host": "els')
    assert wait_of(tmp_path, clock) > lease.PATIENCE


@pytest.mark.parametrize(("job", "waits"), [("31", False), ("32", True)])
def test_a_slurm_job_that_is_started_again_follows_its_earlier_start(
    tmp_path, monkeypatch, clock, job, waits
):
    monkeypatch.setenv("SLURM_JOB_ID", "31")
    sign(tmp_path, slurm_job=job)
    assert (wait_of(tmp_path, clock) > 0) == waits


def test_the_patience_is_longer_than_nfs_keeps_what_it_read():
    assert lease.PATIENCE > 60 + 2 * lease.BEAT


def test_a_holder_that_slept_finds_that_it_was_followed(tmp_path):
    with lease.hold(tmp_path, "work", **FAST | {"beat": 60}) as held:
        held.check()
        sign(tmp_path, 2, host="n7", pid=12, slurm_job="99")
        with pytest.raises(TrainingError) as error:
            held.check()
    assert str(error.value) == (
        f"{held.path}: process 12 on n7, Slurm job 99 took this work over, since this job gave no "
        "sign of life; nothing is written here, let the other finish."
    )
    assert not json.loads((tmp_path / "work.2").read_text())["released"]


def test_a_removed_holder_leaves_no_file_behind(tmp_path):
    with lease.hold(tmp_path, "work", **FAST) as held:
        sign(tmp_path, 2)
        held.path.unlink()
        held.beat()
    assert [path.name for path in tmp_path.iterdir()] == ["work.2"]


def test_many_at_once_are_one_after_the_other(tmp_path):
    """Eight processes add to a counter by read, sleep and write: a lost update would show."""
    code = (
        "import sys, time\nfrom pathlib import Path\nfrom poolbias import lease\n"
        "folder = Path(sys.argv[1])\ncount = folder / 'count'\n"
        "for _ in range(4):\n"
        "    with lease.hold(folder, 'work', look=0.005):\n"
        "        number = int(count.read_text())\n        time.sleep(0.005)\n"
        "        count.write_text(str(number + 1))\n"
    )
    (tmp_path / "count").write_text("0")
    jobs = [subprocess.Popen([sys.executable, "-c", code, tmp_path]) for _ in range(8)]
    assert [job.wait() for job in jobs] == [0] * 8
    assert (tmp_path / "count").read_text() == "32"
    assert len(list(Path(tmp_path).iterdir())) == 2
