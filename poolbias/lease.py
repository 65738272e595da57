"""One job at a time for a result: a lease that a job takes, keeps alive and gives back.

A lease is a file `<name>.<generation>` in a folder that all jobs share. Who makes the file of the
next generation holds it; that is made by a hard link, which is atomic on NFS too, and a link that
was made although the server's answer was lost is recognised by its inode. The holder rewrites its
file every few seconds. A lease may be taken over when its holder gave it back, when the holder is a
process of this machine that is gone, or an earlier start of the same Slurm job, or, if it is
elsewhere, when its file stayed as it is for `patience` on the watcher's own clock, so that clocks
need not agree. A holder that slept through this finds a newer generation, and stops instead of
writing.
"""

import contextlib
import json
import logging
import os
import platform
import threading
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from poolbias.errors import TrainingError

log = logging.getLogger("poolbias")

BEAT = 20.0  # seconds between the holder's signs of life
PATIENCE = 300.0  # seconds without one: more than an NFS client keeps attributes (60)
LOOK = 2.0  # seconds between two looks of a job that waits


class Lease:
    """A lease that this process holds; see `hold`."""

    def __init__(self, folder: Path, name: str, generation: int) -> None:
        self.path = _path(folder, name, generation)
        self._folder, self._name, self._generation = folder, name, generation
        self._owner = owner()
        self._beats = 0

    def beat(self) -> None:
        """Tell that the holder lives."""
        self._beats += 1
        self._write(_sign(self._owner, self._beats))

    def check(self) -> None:
        """Go on only if nobody took the lease over: to be called before results are written.

        Raises:
            TrainingError: if somebody did, since this process gave no sign of life for long.
        """
        newest = _newest(self._folder, self._name)
        if newest > self._generation:
            other = _parsed(_text(_path(self._folder, self._name, newest)))
            raise TrainingError(
                f"{self.path}: {_told(other)} took this work over, since this job gave no sign of "
                "life; nothing is written here, let the other finish."
            )

    def release(self) -> None:
        """Give the lease back."""
        self._write(_sign(self._owner, self._beats, released=True))

    def _write(self, text: str) -> None:
        """Replace the content of the holder's own file, unless a later holder removed it."""
        temporary = _temporary(self.path, text)
        try:
            if self.path.exists():
                temporary.replace(self.path)
        finally:
            temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def hold(
    folder: Path, name: str, *, beat: float = BEAT, patience: float = PATIENCE, look: float = LOOK
) -> Iterator[Lease]:
    """Wait for a lease, hold it in the block, and give it back.

    Args:
        folder: a folder that all jobs in question see; it is made.
        name: what is leased.
        beat: seconds between the holder's signs of life.
        patience: seconds after which a holder without a sign of life is given up.
        look: seconds between two looks while another holds it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    lease = _take(folder, name, patience, look)
    ended = threading.Event()

    def keep_alive() -> None:
        while not ended.wait(beat):
            with contextlib.suppress(OSError):  # a file system that hiccups: next time
                lease.beat()

    keeper = threading.Thread(target=keep_alive, name="lease", daemon=True)
    keeper.start()
    try:
        yield lease
    finally:
        ended.set()
        keeper.join()
        with contextlib.suppress(OSError):
            lease.release()


class Watch:
    """Looks, one after the other, at a lease that another may hold."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder, self._name = folder, name
        self._content, self._since = "", time.monotonic()

    def held(self, patience: float = PATIENCE) -> bool:
        """Return whether the lease is held, as far as the looks so far tell."""
        generation = _newest(self._folder, self._name)
        content = _text(_path(self._folder, self._name, generation))
        if content != self._content:
            self._content, self._since = content, time.monotonic()
        silent = time.monotonic() - self._since > patience
        return generation > 0 and not _is_free(_parsed(content), silent)

    def holder(self) -> str:
        """Return who holds it, for people."""
        return _told(_parsed(self._content))


def owner() -> dict[str, Any]:
    """Return what tells this process from all others: machine, process, start, Slurm job."""
    return {
        "host": platform.node(),
        "machine": _machine(),
        "pid": os.getpid(),
        "started": _started(os.getpid()),
        "slurm_job": os.environ.get("SLURM_JOB_ID"),
    }


def _take(folder: Path, name: str, patience: float, look: float) -> Lease:
    """Return the lease once this process made the file of its next generation."""
    watched, since, told = "", time.monotonic(), ""
    while True:
        generation = _newest(folder, name)
        content = _text(_path(folder, name, generation))
        if content != watched:
            watched, since = content, time.monotonic()
        if generation == 0 or _is_free(_parsed(content), time.monotonic() - since > patience):
            if _link(_path(folder, name, generation + 1)):
                found = _generations(folder, name)
                if max(found) == generation + 1:
                    for older in found - {generation + 1}:
                        _path(folder, name, older).unlink(missing_ok=True)
                    return Lease(folder, name, generation + 1)
                _path(folder, name, generation + 1).unlink()  # two others were in between
            continue
        other = _told(_parsed(content))
        if other != told:
            told = other
            log.info("%s: %s works on it, this job waits", folder.parent, other)
        time.sleep(look)


def _is_free(holder: dict[str, Any], silent: bool) -> bool:
    if holder.get("released"):
        return True
    mine = owner()
    if mine["slurm_job"] and holder.get("slurm_job") == mine["slurm_job"]:
        return bool(holder.get("pid") != mine["pid"])  # Slurm started this job anew
    if mine["machine"] and holder.get("machine") == mine["machine"]:
        return _started(holder.get("pid", 0)) != holder.get("started")  # stopped is not gone
    return silent


def _link(path: Path) -> bool:
    """Return whether this call made `path`."""
    temporary = _temporary(path, _sign(owner(), 0))
    try:
        with contextlib.suppress(FileExistsError):
            os.link(temporary, path)
        return path.samefile(temporary)
    except FileNotFoundError:  # made and outdated by others in between
        return False
    finally:
        temporary.unlink(missing_ok=True)


def _temporary(path: Path, text: str) -> Path:
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    temporary.write_text(text, encoding="utf-8")
    return temporary


def _generations(folder: Path, name: str) -> set[int]:
    ends = [path.name.removeprefix(f"{name}.") for path in folder.glob(f"{name}.*")]
    return {int(end) for end in ends if end.isdigit()}


def _newest(folder: Path, name: str) -> int:
    """Return the newest generation, 0 if the lease was never taken."""
    return max(_generations(folder, name), default=0)


def _path(folder: Path, name: str, generation: int) -> Path:
    return folder / f"{name}.{generation}"


def _sign(owner: dict[str, Any], beats: int, released: bool = False) -> str:
    return json.dumps({**owner, "beats": beats, "released": released}) + "\n"


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""


def _parsed(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _told(holder: dict[str, Any]) -> str:
    job = f", Slurm job {holder['slurm_job']}" if holder.get("slurm_job") else ""
    return f"process {holder.get('pid', 'unknown')} on {holder.get('host', 'unknown')}{job}"


def _machine() -> str:
    """Return what names this start of this machine and its space of process ids, or nothing."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{platform.node()} {boot} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return ""


def _started(pid: int) -> str | None:
    """Return when a process of this machine started, in ticks; None if it is gone or a zombie."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else fields[19]
