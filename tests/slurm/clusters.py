"""Snakemake on the cluster of cluster.sh: started, watched, hit, and what it left."""

import contextlib
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SMOKE = ROOT / "config" / "smoke.yaml"
CLUSTER = Path(os.environ.get("POOLBIAS_CLUSTER", "/tmp/poolbias-cluster"))
# Of the profile's settings those that make a person wait; the rest is as users have it.
HURRY = (
    *("--profile", "slurm", "--latency-wait", "10"),
    *("--slurm-init-seconds-before-status-checks", "3", "--slurm-keep-successful-logs"),
)
# What the trainings and rankings of the smoke study are made from, and its records.
BROUGHT = ("collections", "indexes", "encodings", "runs", "tokens", "candidates", ".records")
# Not the same in two runs of one study: logs, times, what made a result (the report tells of it),
# Lucene's own files.
VARYING = re.compile(
    r"results/(logs|benchmarks|indexes)/|(manifest|record)\.json$|/timing\.tsv$|/report\.html$|/\."
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


def wait_for(condition, seconds=600):
    """Wait until a condition holds, and return its value."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.05)
    raise AssertionError(f"it did not happen within {seconds} s")


def heed_interrupts():
    """Undo what a shell does to its jobs in the background, which never see a Ctrl-C."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


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


def states_of(job):
    """Return the states in which a job ended, from Slurm's own record; each start has one."""
    text = read(CLUSTER / "log" / "jobcomp.log")
    return re.findall(rf"^JobId={job} .*?JobState=(\w+)", text, re.MULTILINE)


class Training:
    """A training of a study: who works on it, and what it makes."""

    def __init__(self, folder, name):
        self.folder = folder
        self.name = name
        self.target = f"results/rankers/{name}/seed-1/manifest.json"

    def lease(self):
        """Return what the lease's newest file tells of its holder; nothing if it was given back."""
        found = (self.folder / self.target).parent.glob(".lease/training.*")
        newest = max(found, key=lambda path: int(path.suffix[1:]), default=None)
        with contextlib.suppress(ValueError):
            told = json.loads(read(newest)) if newest else {}
            return {} if told.get("released") else told
        return {}

    def hold(self, but=()):
        """Stop the process that trains, if there is one; return it and its Slurm job.

        `but` are processes that are not meant.
        """
        told = self.lease()
        if not told or told["pid"] in but:
            return None
        os.kill(told["pid"], signal.SIGSTOP)
        assert self.lease() == told, "it had ended before it was stopped"
        return told["pid"], told["slurm_job"]


def hold(*trainings, but=()):
    """Stop the processes of trainings, each as soon as it begins; return them and their jobs."""
    held = {}

    def all_held():
        for training in trainings:
            if training not in held and (found := training.hold(but)):
                held[training] = found
        return len(held) == len(trainings)

    wait_for(all_held)
    return [held[training] for training in trainings]


class Study:
    """A study in a folder of its own, and the Snakemakes that are started on it."""

    def __init__(self, folder):
        self.folder = Path(folder)
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
                    *("--directory", self.folder, "--configfile", SMOKE),
                ],
                cwd=ROOT,
                stdout=file,
                stderr=subprocess.STDOUT,
                env=os.environ | {"COLUMNS": "200"},
                start_new_session=True,
                preexec_fn=heed_interrupts,
            )
        self.groups.append(process.pid)
        process.told = output.read_text
        return process

    def clean_up(self):
        """End what a test that failed left running."""
        for group in self.groups:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(group, signal.SIGKILL)
        if shutil.which("scancel") and Path("/etc/slurm/slurm.conf").exists():
            subprocess.run(["scancel", *self.jobs()], check=False, stderr=subprocess.DEVNULL)

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

    def kill(self, process):
        """Kill Snakemake alone; then check that the next one asks for `--unlock`, and give it."""
        process.kill()
        process.wait()
        locked = self.end(self.snakemake("all", *HURRY), code=1)
        assert "LockException" in locked
        assert "--unlock" in locked
        self.finish("--unlock")

    def jobs(self):
        """Return the Slurm jobs of this study that wait or run."""
        listed = tool("squeue", "--noheader", "--states=all", "--format=%i %T %Z").splitlines()
        fields = [line.split(maxsplit=2) for line in listed]
        living = ("PENDING", "RUNNING", "COMPLETING", "REQUEUED")
        return [
            job for job, state, place in fields if state in living and place == str(self.folder)
        ]

    def trained(self):
        """Return (trainings that went to their end, jobs that took what another had made)."""
        texts = [path.read_text() for path in (self.folder / "results/logs/slurm").rglob("*.log")]
        texts += [path.read_text() for path in self.folder.glob("output-*.txt")]
        ends = [line for text in texts for line in text.splitlines()]
        taken = sum(TAKEN in line for line in ends)
        return sum(bool(TRAINED.search(line)) for line in ends) - taken, taken


class Cut(Study):
    """Trainings of the smoke study and a ranking of each; all else is there."""

    def __init__(self, folder, smoke, methods):
        super().__init__(folder)
        self.smoke = smoke
        for name in BROUGHT:
            shutil.copytree(smoke / "results" / name, self.folder / "results" / name)
        for name in ("rankers", "rankings"):
            shutil.rmtree(self.folder / "results" / ".records" / name, ignore_errors=True)
        self.trainings, self.rankings = [], []
        for method in methods:
            pattern = f"results/rankings/*.{method}.*/seed-1/dense*/top-*/test.run.gz"
            (ranking,) = smoke.glob(pattern)
            self.trainings.append(Training(self.folder, ranking.parts[-5]))
            self.rankings.append(str(ranking.relative_to(smoke)))
        self.rankers = [training.target for training in self.trainings]

    def check(self, trained, taken=0, rankings=()):
        """Check the bytes of all that was made, and how often a training went to its end."""
        made, expected = digests(self.folder), digests(self.smoke)
        assert made == {name: expected[name] for name in made}
        assert {*rankings} <= {*made}
        for training in self.trainings:
            whole = {name for name in expected if f"/rankers/{training.name}/" in name}
            assert any(name.endswith("R/model.safetensors") for name in whole)
            assert whole <= {*made}
        assert self.trained() == (trained, taken)
