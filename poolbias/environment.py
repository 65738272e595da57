"""The environment variables that a stage's shell command runs in."""

import os
import sys
from pathlib import Path


def prepare(root: Path) -> None:
    """Let shell commands find this Python, this checkout's library and its scripts.

    Args:
        root: the folder of the Snakefile; its library wins over an installed one, so that a copy of
            the repository runs its own code. Models are loaded by path: no library asks a hub.
    """
    os.environ |= {
        "PYTHONPATH": _before("PYTHONPATH", str(root)),
        "PATH": _before("PATH", str(Path(sys.executable).parent)),
        "POOLBIAS_ROOT": str(root),
        "HF_HUB_OFFLINE": "1",
        "PYTHONUTF8": "1",  # whatever the locale: paths and texts are UTF-8
        "TOKENIZERS_PARALLELISM": "false",
    }


def _before(name: str, entry: str) -> str:
    others = [other for other in os.environ.get(name, "").split(os.pathsep) if other]
    return os.pathsep.join([entry, *(other for other in others if other != entry)])
