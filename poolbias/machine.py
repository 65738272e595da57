"""What a job ran with: versions of packages, the repository's commit, the processor."""

import contextlib
import platform
import subprocess
from importlib import metadata
from pathlib import Path

_VERSIONS = [
    "numpy",
    "scipy",
    "pandas",
    "torch",
    "transformers",
    "tokenizers",
    "ir-measures",
    "pyserini",
]


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that numbers depend on, if installed."""
    found = {"python": platform.python_version()}
    for name in _VERSIONS:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


def commit() -> str:
    """Return the repository's commit, with `+` if files differ from it; `unknown` without git."""
    root = Path(__file__).resolve().parents[1]
    try:
        head = _git(root, "rev-parse", "HEAD")
        return head + ("+" if _git(root, "status", "--porcelain", "-uno") else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def cpu_name() -> str:
    """Return the processor's name as the system tells it."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or "unknown processor"


def _git(root: Path, *arguments: str) -> str:
    command = ["git", "-C", str(root), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
