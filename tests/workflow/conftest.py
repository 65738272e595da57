"""The smoke study, run once in a folder of its own, and Snakemake as a user calls it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import offline
import pytest
from filelock import FileLock

ROOT = Path(__file__).resolve().parents[2]
SMOKE = ROOT / "config" / "smoke.yaml"


class Workflow:
    """Snakemake on this repository, with its results in `folder`."""

    def __init__(self, folder, root=ROOT):
        self.folder = Path(folder)
        self.root = Path(root)

    def run(self, *arguments, configfile=SMOKE, check=True, offline_in=None):
        """Run snakemake with targets first, as the README says.

        `offline_in` is a folder for what tells of attempts to use the network, which is then off.
        """
        prefix, variables = (), {}
        if offline_in:
            prefix, variables = offline.prefix(), offline.environment(offline_in)
        files = ["--configfile", str(configfile)] if configfile else []
        done = subprocess.run(
            [
                *prefix,
                *(sys.executable, "-m", "snakemake"),
                *(str(argument) for argument in arguments),
                *("--snakefile", str(self.root / "Snakefile"), "--directory", str(self.folder)),
                *files,
            ],
            cwd=self.root,
            env=os.environ | {"COLUMNS": "200"} | variables,
            capture_output=True,
            text=True,
            check=False,
        )
        output = done.stdout + done.stderr
        if check:
            assert done.returncode == 0, output[-6000:]
        return output

    def jobs(self, *arguments, configfile=SMOKE):
        """Return how many jobs of each rule a dry run would start."""
        output = self.run(*arguments, "--dry-run", configfile=configfile)
        if "Nothing to be done" in output:
            return {}
        table = output.split("Job stats:")[1].split("\n\n")[0]
        counts = dict(re.findall(r"^(\w+) +(\d+)$", table, flags=re.MULTILINE))
        return {rule: int(count) for rule, count in counts.items() if rule != "total"}

    def path(self, pattern):
        """Return the one result that fits a pattern below results/."""
        (found,) = sorted((self.folder / "results").glob(pattern))
        return found


def working(jobs):
    """Return those of a job list that train, rank or measure, without what brings them together."""
    shown = {"all", "claims", "report", "summarise_metrics", "measure_premises"}
    return {
        rule: count
        for rule, count in jobs.items()
        if rule not in shown and not rule.startswith(("figure", "table"))
    }


@pytest.fixture(scope="session")
def smoke(tmp_path_factory, worker_id):
    """The finished smoke study, run once for all workers; a test that changes it takes a copy."""
    folder = tmp_path_factory.getbasetemp()
    folder = folder if worker_id == "master" else folder.parent
    workflow = Workflow(folder / "smoke")
    workflow.folder.mkdir(exist_ok=True)
    with FileLock(folder / "smoke.lock"):
        if not (folder / "smoke.done").exists():
            workflow.run(offline_in=folder / "offline")
            (folder / "smoke.done").touch()
    return workflow
