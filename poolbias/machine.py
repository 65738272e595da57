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


ROOT = Path(__file__).resolve().parents[1]  # of the repository


def path_here(file: Path) -> str:
    """Return how a manifest names a file: one of the repository by its path in it, wherever."""
    return str(file.relative_to(ROOT) if file.is_relative_to(ROOT) else file)


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that numbers depend on, if installed."""
    found = {"python": platform.python_version()}
    for name in _VERSIONS:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


def commit() -> str:
    """Return the repository's commit, with `+` if files differ from it; `unknown` without git."""
    try:
        head = _git("rev-parse", "HEAD")
        return head + ("+" if _git("status", "--porcelain", "-uno") else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def cpu_name() -> str:
    """Return the processor's name as the system tells it."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or "unknown processor"


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
