"""Snakemake's own overhead on the default study: nothing is computed here.

Empty files stand in for all results, so that planning, looking and book-keeping are all that is
left: a dry run of everything, `--touch` (every job goes through the scheduler and the records, no
command runs), and a run that finds nothing to do.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.setting import Outcome, Setting
from benchmarks.timing import here, ratio, rounds

ROOT = Path(__file__).resolve().parents[1]


def snakemake(folder: Path, *arguments: str) -> str:
    """Return what a command of Snakemake printed that ran this study in a folder.

    Raises:
        RuntimeError: if it failed, with what it said.
    """
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile")]
    command += ["--directory", str(folder), "--cores", "2", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    if done.returncode:
        raise RuntimeError(f"snakemake {' '.join(arguments)}: {done.stderr[-2000:]}")
    return done.stdout + done.stderr


def pretend(folder: Path, summary: str) -> int:
    """Make an empty file or folder for each result of Snakemake's summary; return their number."""
    rows = summary[summary.index("output_file\t") :].splitlines()[1:]
    paths = [folder / row.split("\t")[0] for row in rows if "\t" in row]
    for path in paths:
        if re.fullmatch(r"\.[a-z]+", path.suffix):  # a hash or a depth is no suffix
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        else:
            path.mkdir(parents=True, exist_ok=True)
    return len(paths)


def jobs_of(text: str) -> int:
    """Return how many jobs a run of Snakemake says that it has done."""
    return int(re.findall(r"(\d+) of \d+ steps \(100%\) done", text)[-1])


def workflow(setting: Setting) -> Outcome:
    """Measure what Snakemake takes by itself, in seconds and in seconds per job."""
    with tempfile.TemporaryDirectory(prefix="poolbias-benchmark-") as name:
        empty, full = Path(name) / "empty", Path(name) / "full"
        for folder in (empty, full):
            folder.mkdir()
        pretend(full, snakemake(full, "--summary"))
        jobs = jobs_of(snakemake(full, "--touch", "all"))
        found = rounds(
            here(
                {
                    "bare": partial(snakemake, empty, "--version"),
                    "dry run": partial(snakemake, empty, "--dry-run", "all"),
                    "touch": partial(snakemake, full, "--touch", "--forceall", "all"),
                    "no-op": partial(snakemake, full, "all"),
                }
            ),
            min(setting.repeats, 3),
        )
        assert "Nothing to be done" in snakemake(full, "all")
        shutil.rmtree(full)
    rows = []
    for run, seconds in found.seconds.items():
        low, median, high = np.quantile(seconds, [0.25, 0.5, 0.75])
        beyond = (median - found.median("no-op")) / jobs if run == "touch" else np.nan
        rows.append((run, jobs, median, low, high, median / jobs, beyond))
    columns = ["run", "jobs", "seconds", "low", "high", "seconds_per_job", "per_job_beyond_no_op"]
    times = found.seconds
    bare, nothing = found.median("bare"), found.median("no-op")
    note = f"{nothing:.1f} s for {jobs} jobs, Snakemake by itself {bare:.1f} s"
    title = "workflow: Snakemake's bare start / a run with nothing to do"
    return Outcome(
        [ratio(title, times["no-op"], times["bare"], None, note)],
        {"workflow": pd.DataFrame(rows, columns=columns)},
    )
