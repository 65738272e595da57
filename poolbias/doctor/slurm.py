"""Slurm's tools on this machine, and whether the profile's way to ask for jobs' states serves."""

import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import yaml

from poolbias.doctor.finding import DOUBT, Finding

TOOLS = ("sbatch", "squeue", "scancel", "scontrol", "sinfo")
NEEDED = "nothing for a local run; a controller that answers for `--profile slurm`"
PROFILE = "slurm-init-seconds-before-status-checks"
_COMMANDS = {
    "configuration": ("scontrol", "show", "config"),
    "gpus": ("sinfo", "--noheader", "--format=%G"),
    "accounts": ("sacct", "--noheader", "--allocations", "--format=JobID"),
}
Said = dict[str, str | None]


def ask(seconds: float = 2.0) -> Said:
    """Return what Slurm's tools say: None where one fails, is missing or takes longer."""

    def run(command: tuple[str, ...]) -> str | None:
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=seconds, check=True
            )
        except (OSError, subprocess.SubprocessError):
            return None
        return done.stdout

    with ThreadPoolExecutor() as pool:
        return dict(zip(_COMMANDS, pool.map(run, _COMMANDS.values()), strict=True))


def tools(said: Said, profile: Path) -> Finding:
    """Return whether `--profile slurm` would work here.

    Args:
        said: what `ask` returned.
        profile: the profile's file, which tells when states are first asked for.
    """
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if len(missing) == len(TOOLS):
        return Finding("Slurm", "none", NEEDED)
    if missing:
        fix = "run where Slurm's tools are installed, such as a login node"
        return Finding("Slurm", f"no {', '.join(missing)}", NEEDED, DOUBT, fix)
    if said["configuration"] is None:
        fix = "ask the cluster's administrators, or run locally"
        return Finding("Slurm", "tools, but no controller that answers", NEEDED, DOUBT, fix)
    return _states(said, profile)


def gpus_of_nodes(said: Said) -> str:
    """Return the GPUs that Slurm's nodes have, as Slurm writes them; nothing if there are none."""
    listed = {word for word in (said["gpus"] or "").split() if word.startswith("gpu")}
    return ", ".join(sorted(listed))


def _states(said: Said, profile: Path) -> Finding:
    age = int(_value(said, "MinJobAge") or 0)
    first = int(yaml.safe_load(profile.read_text(encoding="utf-8"))[PROFILE])
    version = _value(said, "SLURM_VERSION")
    with_or_without = "with" if said["accounts"] is not None else "without"
    found = f"{version}, {with_or_without} accounting, MinJobAge {age} s"
    if age >= 3 * first:
        return Finding("Slurm", found, NEEDED)
    # Slurm forgets a job before it is asked about; the plugin then turns to accounting by itself.
    fix = f"set {PROFILE} in {profile.parent.name}/{profile.name} to {max(age // 3, 1)} or less"
    return Finding("Slurm", found, NEEDED, DOUBT, fix)


def _value(said: Said, key: str) -> str:
    """Return the first word of a value of Slurm's configuration."""
    match = re.search(rf"^{key}\s*=\s*(\S+)", said["configuration"] or "", re.MULTILINE)
    return match[1] if match else ""
