"""Snakemake on the cluster of cluster.sh: started, watched, hit, and what it left."""

import contextlib
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CLUSTER = Path(os.environ.get("POOLBIAS_CLUSTER", "/tmp/poolbias-cluster"))
# Of the profile's settings those that make a person wait; the rest is as users have it.
HURRY = (
    *("--profile", "slurm", "--latency-wait", "10"),
    *("--slurm-init-seconds-before-status-checks", "3", "--slurm-keep-successful-logs"),
)
# Not the same in two runs of one study: logs, times, what made a result, Lucene's own files.
VARYING = re.compile(
    r"results/(logs|benchmarks|indexes)/|(manifest|record)\.json$|/timing\.tsv$|/\."
)
TRAINED = re.compile(r"INFO done in .*loss_at_end")
TAKEN = "nothing is trained"


def cluster(*words):
    """Run cluster.sh."""
    done = subprocess.run(
        ["bash", ROOT / "tests" / "slurm" / "cluster.sh", *words],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def tool(*words):
    """Return what one of Slurm's tools prints."""
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def wait_for(condition, seconds=300):
    """Wait until a condition holds, and return its value."""
    for _ in range(seconds * 10):
        if found := condition():
            return found
        time.sleep(0.1)
    raise AssertionError(f"it did not happen within {seconds} s")


def read(path):
    """Return a file's text, nothing if it is gone."""
    try:
        return Path(path).read_text()
    except OSError:
        return ""


def digests(folder):
    """Return the hash of every result whose bytes are promised, by its path."""
    files = [path for path in (folder / "results").rglob("*") if path.is_file()]
    names = {str(path.relative_to(folder)): path for path in files}
    return {
        name: hashlib.sha256(path.read_bytes()).hexdigest()
        for name, path in names.items()
        if not VARYING.search(name)
    }


class Study:
    """A study in a folder of its own, and the Snakemakes that are started on it."""

    def __init__(self, folder, configfile, targets=()):
        self.folder = Path(folder)
        self.configfile = configfile
        self.targets = list(targets)  # rankings
        self.outputs = 0
        self.groups = []

    def snakemake(self, *words, output=None):
        """Start Snakemake; its output goes to a file, which the processes that it starts share."""
        self.outputs += 1
        output = output or self.folder / f"output-{self.outputs}.txt"
        self.folder.mkdir(parents=True, exist_ok=True)
        with output.open("w") as file:
            process = subprocess.Popen(
                [
                    *(sys.executable, "-m", "snakemake", *words),
                    *("--directory", self.folder, "--configfile", self.configfile),
                ],
                cwd=ROOT,
                stdout=file,
                stderr=subprocess.STDOUT,
                env=os.environ | {"COLUMNS": "200"},
                start_new_session=True,
            )
        self.groups.append(process.pid)
        process.told = output.read_text
        return process

    def clean_up(self):
        """End what a test that failed left running."""
        if shutil.which("scancel") and Path("/etc/slurm/slurm.conf").exists():
            subprocess.run(["scancel", "--user=root"], check=False)
        for group in self.groups:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(group, signal.SIGKILL)

    def finish(self, *words, output=None):
        """Run Snakemake to its end; return what it said."""
        return self.end(self.snakemake(*words, output=output))

    def end(self, process, code=0):
        """Wait for Snakemake to end as it should; return what it said."""
        try:
            found = process.wait(timeout=900)
        except subprocess.TimeoutExpired:
            process.kill()
            found = process.wait()
        assert found == code, process.told()[-8000:]
        return process.told()

    def copy(self, folder):
        """Return a copy of the study up to its trainings, which are to be done."""
        shutil.copytree(self.folder, folder, ignore=shutil.ignore_patterns("output-*.txt"))
        for name in ("rankers", "rankings", "checkpoints"):
            shutil.rmtree(folder / "results" / name, ignore_errors=True)
        return Study(folder, self.configfile, self.targets)

    def find_targets(self):
        """Ask Snakemake for the study's rankings; they are what faults are tried on."""
        output = self.finish("--dry-run", "--quiet", "progress")
        found = re.findall(r"results/rankings/[^,;\s]+run\.gz", output)
        self.targets = sorted(set(found))

    def log(self, number):
        """Return the log of the training of one ranking's ranker, so far."""
        experiment = self.targets[number].split("/")[2]
        path = self.folder / "results" / "logs" / "train_ranker" / experiment / "seed-1.log"
        return read(path)

    def is_training(self, number):
        """Return whether the training of one ranking's ranker has begun and not ended."""
        text = self.log(number)
        return "train_ranker starts" in text and "done in" not in text

    def process(self, number):
        """Return the id of a process that trains one ranking's ranker."""
        experiment = self.targets[number].split("/")[2]
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            words = read(path).split("\0")
            if len(words) > 2 and words[1].endswith("train_ranker.py") and experiment in words[3]:
                return int(path.parent.name)
        raise AssertionError(f"no process trains {experiment}")

    def job(self, number):
        """Return the id of the running Slurm job that trains one ranking's ranker."""
        experiment = self.targets[number].split("/")[2]
        listed = tool("squeue", "--noheader", "--states=running", "--format=%i %k")
        found = re.findall(rf"^(\d+) rule_train_ranker_wildcards_{experiment}_1$", listed, re.M)
        return found[-1] if found else None

    def trained(self):
        """Return (trainings that went to their end, jobs that took what another had made)."""
        texts = [path.read_text() for path in (self.folder / "results/logs/slurm").rglob("*.log")]
        texts += [path.read_text() for path in self.folder.glob("output-*.txt")]
        ends = [line for text in texts for line in text.splitlines()]
        taken = sum(TAKEN in line for line in ends)
        return sum(bool(TRAINED.search(line)) for line in ends) - taken, taken


def ended():
    """Return how often each state ended a job, from Slurm's own record."""
    text = (CLUSTER / "log" / "jobcomp.log").read_text()
    found = re.findall(r"JobState=(\w+)", text)
    return {state: found.count(state) for state in set(found)}
