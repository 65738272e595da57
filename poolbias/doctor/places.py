"""Folders, disk, leases and locale: what jobs write to and read with."""

import codecs
import contextlib
import fcntl
import locale
import os
import shutil
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

from poolbias import lease
from poolbias.doctor.finding import BAD, DOUBT, Finding

GB = 1e9


def writable(folders: list[Path]) -> Finding:
    """Return whether jobs can write to folders, or to the parents of those that are not there."""
    refused = [f"{folder} ({why})" for folder in folders if (why := _refusal(_existing(folder)))]
    names = ", ".join(map(str, folders))
    needed = f"to write to {names}"
    if refused:
        fix = "make it writable, or run with `--directory` in a folder of yours"
        return Finding("folders", f"no way to write to {', '.join(refused)}", needed, BAD, fix)
    return Finding("folders", "all writable", needed)


def disk(results: Path, needed: float) -> Finding:
    """Return whether the disk of `results` has room for `needed` bytes."""
    free = shutil.disk_usage(_existing(results)).free
    found = f"{free / GB:.1f} GB free for {results}"
    wanted = f"about {needed / GB:.1f} GB for what is not made yet"
    if free >= needed:
        return Finding("disk", found, wanted)
    fix = "make room, or run with `--directory` on another disk"
    return Finding("disk", found, wanted, BAD, fix)


def locks(results: Path) -> Finding:
    """Return whether leases, which trainings take, work where the results lie."""
    needed = "leases, so that no ranker is trained twice at a time"
    folder = _existing(results)
    if why := _refusal(folder):
        return Finding("file locks", f"none ({why})", needed, BAD, "see folders")
    with tempfile.TemporaryDirectory(prefix=".doctor.", dir=folder) as name:
        leases = _within(5, lambda: _takes_lease(Path(name)))
        plain = _within(5, lambda: _locks_file(Path(name)))
    also = "and fcntl locks" if plain else "(fcntl locks do not; nothing here needs them)"
    if leases:
        return Finding("file locks", f"leases {also} work", needed)
    fix = "put the results on a file system that knows hard links"
    return Finding("file locks", f"no hard links on the file system of {results}", needed, BAD, fix)


def text() -> Finding:
    """Return whether this locale's text is UTF-8."""
    found = codecs.lookup(locale.getencoding()).name
    if found == "utf-8":
        return Finding("locale", "UTF-8", "UTF-8")
    fix = "set LC_ALL=C.UTF-8 (jobs read and write UTF-8 in any case)"
    return Finding("locale", found, "UTF-8", DOUBT, fix)


def _existing(folder: Path) -> Path:
    """Return the folder, or the nearest one above it that is there."""
    folder = folder.absolute()
    while not folder.exists():
        folder = folder.parent
    return folder


def _refusal(folder: Path) -> str:
    """Return why nothing can be written to a folder; nothing if it can."""
    try:
        with tempfile.NamedTemporaryFile(prefix=".doctor.", dir=folder) as file:
            file.write(b"x")
            file.flush()
    except OSError as error:
        return error.strerror or str(error)
    return ""


def _takes_lease(folder: Path) -> bool:
    with contextlib.suppress(OSError), lease.hold(folder, "try"):
        return True
    return False


def _locks_file(folder: Path) -> bool:
    with contextlib.suppress(OSError), (folder / "locked").open("wb") as file:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.fstat(file.fileno()).st_nlink == 1
    return False


def _within(seconds: float, attempt: Callable[[], bool]) -> bool:
    """Return whether an attempt succeeds in time; a lock server that is not there never answers."""
    answer: list[bool] = []
    thread = threading.Thread(target=lambda: answer.append(attempt()), daemon=True)
    thread.start()
    thread.join(seconds)
    return bool(answer and answer[0])
