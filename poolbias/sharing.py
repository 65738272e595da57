"""Runs of Snakemake that share one results folder: what two want is made once.

Each run has a lease and a card in `results/.runs/`, numbered in the order of starting. Once its
list of jobs is known, the card tells what it will make. A run that starts later waits, before it
looks at what is there, until the runs before it have made what both want, or have ended; then it
makes the rest, at the same time as they make theirs. Without this, Snakemake would take what
another run is making for missing, and remove it when that has just been made.
"""

import atexit
import contextlib
import logging
import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from poolbias import lease, records
from poolbias.errors import DataError
from poolbias.files import read_json, write_json

log = logging.getLogger("poolbias")

FOLDER = ".runs"
LOOK = 2.0  # seconds between two looks of a run that waits
SETTLE = 0.2  # seconds after which runs that start at the same moment see each other's cards
# Commands of Snakemake that run no job, by how they begin, and targets that make no file.
ASIDE = (
    "doctor",
    *("--archive", "--cleanup", "--compilation", "--containerize", "--d3dag", "--dag", "--delete"),
    *("--detailed-summary", "--filegraph", "--generate", "--lint", "--list", "--lt", "--preemp"),
    *("--print-compilation", "--report", "--rulegraph", "--summary", "--touch", "--unlock"),
)


def runs_jobs(arguments: Sequence[str], dry: bool, main: bool) -> bool:
    """Return whether a call of Snakemake runs jobs itself (a job's own call does not).

    Args:
        arguments: of its command line.
        dry: whether it is a dry run.
        main: whether it is the main process, not one that runs a job for it.
    """
    return main and not dry and not any(word.startswith(ASIDE) for word in arguments)


class Run:
    """A run of Snakemake, from `enter` to the end of its process."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder = folder
        self.name = name
        self.card = folder / f"{name}.json"

    def claim(self, files: Iterable[str]) -> None:
        """Tell which files this run is going to make."""
        self._write(sorted(files))

    def wait(self, makes: Callable[[str], bool], look: float = LOOK) -> None:
        """Wait until earlier runs have made what this one wants too, or have ended.

        Args:
            makes: whether this run's study can make a file.
            look: seconds between two looks.
        """
        others = [Other(self.folder, path.stem) for path in sorted(self.folder.glob("*.json"))]
        others = [other for other in others if other.name < self.name]
        told: dict[str, str] = {}
        while True:
            others = [other for other in others if other.lives()]
            reasons = {other.name: other.reason(makes, str(Path.cwd())) for other in others}
            waiting = {name: reason for name, reason in reasons.items() if reason}
            if not waiting:
                return
            for name, reason in waiting.items():
                if told.get(name) is None:
                    told[name] = reason
                    log.warning("%s", reason)
            time.sleep(look)

    def _write(self, files: list[str] | None) -> None:
        write_json(self.card, {"directory": str(Path.cwd()), "files": files})


class Other:
    """Another run, as its card and its lease tell of it."""

    def __init__(self, folder: Path, name: str) -> None:
        self.name = name
        self._folder, self._card = folder, folder / f"{name}.json"
        self._watch = lease.Watch(folder, name)

    def lives(self) -> bool:
        """Return whether it still runs; what a run that was killed has left is removed."""
        if not self._card.exists():
            return False
        if self._watch.held():
            return True
        _remove(self._folder, self.name)
        return False

    def reason(self, makes: Callable[[str], bool], directory: str) -> str | None:
        """Return, for people, why one must wait for it; None if one need not."""
        card = _read(self._card)
        who = f"Snakemake in {card.get('directory', 'another folder')} ({self._watch.holder()})"
        if card.get("directory") == directory:
            return f"{who} runs in this folder: waiting until it has ended."
        if card.get("files") is None:
            return f"{who} started before: waiting until it knows what it will make."
        wanted = [file for file in card["files"] if makes(file) and not self._made(file)]
        if not wanted:
            return None
        number = f"{len(wanted)} files" if len(wanted) > 1 else "1 file"
        return (
            f"{who} is making {number} that this study needs too ({wanted[0]}, say): waiting until "
            "they are there."
        )

    def _made(self, file: str) -> bool:
        """Return whether a file was made since the run told that it would, by its record."""
        record, told = records.place(file), _time(self._card)
        written = (record and _time(record)) or _time(Path(file))
        return written is not None and (told is None or written >= told)


def enter(results: Path) -> Run:
    """Register this process as a run until it ends, and return it.

    Args:
        results: the results folder.
    """
    folder = (results / FOLDER).absolute()  # Snakemake leaves its working folder before the end
    numbers = [int(path.stem.partition("-")[0]) for path in folder.glob("*.json")]
    name = f"{max(numbers, default=0) + 1:06d}-{uuid.uuid4().hex[:8]}"
    stack = contextlib.ExitStack()
    stack.callback(_remove, folder, name)
    stack.enter_context(lease.hold(folder, name))
    run = Run(folder, name)
    run._write(None)
    atexit.register(stack.close)
    time.sleep(SETTLE)
    return run


def _remove(folder: Path, name: str) -> None:
    for path in folder.glob(f"{name}.*"):
        path.unlink(missing_ok=True)


def _read(card: Path) -> dict[str, Any]:
    try:
        found = read_json(card)
    except DataError:  # it ended just now
        return {"files": []}
    return found if isinstance(found, dict) else {"files": []}


def _time(path: Path) -> int | None:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return None
