"""Official files from the network: resumed, retried, and checked before they have their name.

What arrives is written to `<path>.part`. An address that stalls or breaks off is asked again for
the rest; one that refuses, or whose bytes are wrong, gives way to the next.
"""

import contextlib
import hashlib
import http.client
import logging
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from poolbias.errors import DataError, ToolError
from poolbias.files import open_text, write_text
from poolbias.sources import Source

log = logging.getLogger("poolbias")

_BLOCK = 1 << 20
_AGAIN = frozenset({408, 425, 429, 500, 502, 503, 504})  # others will not change by waiting


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a download is tried: our choices.

    Attributes:
        timeout: seconds without a byte after which an address counts as stalled.
        tries: attempts per address that bring no new byte, before the next address.
        first_wait: seconds before the second attempt; doubled for each further one.
        longest_wait: seconds that no wait exceeds.
    """

    timeout: float = 60.0
    tries: int = 5
    first_wait: float = 1.0
    longest_wait: float = 60.0


class _GiveUpError(Exception):
    """An address that is not worth another attempt."""


def retrieve(
    source: Source, path: Path, folder: Path | None = None, patience: Patience | None = None
) -> str:
    """Bring an official file to `path`, unless it is there already.

    Args:
        source: what the file is and where it can be had.
        path: where it is to lie.
        folder: a user's own folder; a file of the source's name in it is checked and linked to.
        patience: how long each address is tried.

    Returns:
        `there`, `taken` (from the folder) or `fetched`.

    Raises:
        DataError: if other bytes lie at `path` or in the folder.
        ToolError: if no address gave the file, with what each of them answered and the way to put
            the file there by hand.
    """
    if path.exists():
        check(source, path, f"remove it, or put the right file ({source.by_hand}) there")
        return "there"
    path.parent.mkdir(parents=True, exist_ok=True)
    own = folder / source.name if folder else None
    if own is not None and own.is_file():
        check(source, own, "it is the user's own file: put the right one there, or remove it")
        link(own, path)
        return "taken"
    _fetch(source, path, patience or Patience())
    return "fetched"


def check(source: Source, path: Path, do: str) -> None:
    """Check a file's length and hash; where none is known, that it is what was first recorded.

    Raises:
        DataError: telling what was found, what is needed and to `do`.
    """
    found = path.stat().st_size
    if source.size is not None and found != source.size:
        raise DataError(f"{path}: found {found} bytes, need {source.size}; {do}.")
    algorithm, needed = source.algorithm, source.digits
    record = _record(path)
    if not needed and record.exists():
        with open_text(record) as text:
            algorithm, needed = "sha256", text.read().split()[0]
    if needed and (digits := _digits(path, algorithm)) != needed:
        raise DataError(f"{path}: found {algorithm.upper()} {digits}, need {needed}; {do}.")


def link(file: Path, path: Path) -> None:
    """Make `path` a symbolic link to a file, in place of what stood there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.link")
    temporary.unlink(missing_ok=True)
    temporary.symlink_to(file.resolve())
    temporary.replace(path)


def _fetch(source: Source, path: Path, patience: Patience) -> None:
    part = path.with_name(f"{path.name}.part")
    if source.size is None or not source.digits:
        part.unlink(missing_ok=True)  # nothing tells that its beginning is of the same file
    answers = []
    for address in source.addresses:
        try:
            _from(address, source, part, patience)
        except _GiveUpError as reason:
            answers.append(f"{address} ({reason})")
            log.warning("%s: %s", address, reason)
            continue
        if not source.digits:
            _write_record(source, path, part)
        part.replace(path)
        return
    raise ToolError(
        f"{source.name}: no address gave it: {'; '.join(answers)}; try again where the network is, "
        f"or get it elsewhere ({source.by_hand}) and put it at {path}."
    )


def _from(address: str, source: Source, part: Path, patience: Patience) -> None:
    """Complete `part` from one address; `_GiveUpError` with the reason if it cannot be."""
    failures, wait = 0, patience.first_wait
    while True:
        before = part.stat().st_size if part.exists() else 0
        try:
            _read(address, source, part, patience.timeout)
            wrong = _wrong(source, part)
            if wrong is None:
                return
            # Whole but other bytes: a resumed beginning may be to blame, so once from the start.
            part.unlink(missing_ok=True)
            if before == 0:
                raise _GiveUpError(wrong)
            continue
        except (OSError, http.client.HTTPException) as error:
            reason = _reason(error)
        after = part.stat().st_size if part.exists() else 0
        failures = 0 if after > before else failures + 1
        if failures >= patience.tries:
            raise _GiveUpError(f"{reason}, {failures} times")
        log.info("%s: %s at byte %d; again in %.1f s", address, reason, after, wait)
        time.sleep(wait)
        wait = patience.first_wait if after > before else min(2 * wait, patience.longest_wait)


def _reason(error: Exception) -> str:
    """Return why an attempt failed, or give up on the address where waiting will not mend it."""
    if isinstance(error, urllib.error.HTTPError):
        error.close()  # it is an answer, too
        reason = f"HTTP {error.code} {error.reason}"
        if error.code not in _AGAIN:
            raise _GiveUpError(reason) from error
        return reason
    return str(getattr(error, "reason", None) or error or type(error).__name__)


def _read(address: str, source: Source, part: Path, timeout: float) -> None:
    """Append what is still lacking, or begin anew where the address cannot resume.

    Raises:
        OSError, http.client.HTTPException: if the answer stalls, breaks off or is an error.
    """
    start = part.stat().st_size if part.exists() else 0
    if source.size is None or not source.digits:
        start = 0
    elif start >= source.size:
        if start > source.size:
            part.unlink()
        else:
            return
        start = 0
    request = urllib.request.Request(address)
    if start:
        request.add_header("Range", f"bytes={start}-")
    with _opened(request, timeout) as answer:
        resumed = answer.status == 206
        if resumed and not str(answer.headers.get("Content-Range")).startswith(f"bytes {start}-"):
            part.unlink(missing_ok=True)
            raise OSError("the answer is another range than was asked for")
        start = start if resumed else 0
        length = answer.headers.get("Content-Length")
        whole = start + int(length) if length and length.isdigit() else None
        most = None if source.size is None else source.size + 1
        with part.open("ab" if resumed else "wb") as file:
            while block := answer.read1(_BLOCK if most is None else min(_BLOCK, most - start)):
                start += file.write(block)
    if whole is not None and start < min(whole, whole if most is None else most):
        raise OSError(f"broke off after {start} of {whole} bytes")


@contextlib.contextmanager
def _opened(request: urllib.request.Request, timeout: float) -> Iterator[http.client.HTTPResponse]:
    try:
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            yield answer
    except urllib.error.HTTPError as error:
        if error.code != 416:
            raise
        error.close()
        raise OSError("the address refuses the rest of the file") from error


def _wrong(source: Source, part: Path) -> str | None:
    """Return what is wrong with a complete download, or None."""
    size = part.stat().st_size
    if source.size is not None and size != source.size:
        more = "more than " if size > source.size else ""
        return f"gave {more}{min(size, source.size)} bytes, need {source.size}"
    if source.digits and (found := _digits(part, source.algorithm)) != source.digits:
        return f"gave other bytes ({source.algorithm.upper()} {found}, need {source.digits})"
    return None if size else "gave no bytes"


def _digits(path: Path, algorithm: str) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(
            file, lambda: hashlib.new(algorithm, usedforsecurity=False)
        ).hexdigest()


def _record(path: Path) -> Path:
    return path.with_name(f"{path.name}.sha256")


def _write_record(source: Source, path: Path, part: Path) -> None:
    record, digits = _record(path), _digits(part, "sha256")
    if record.exists():
        with open_text(record) as text:
            needed = text.read().split()[0]
        if needed != digits:
            part.unlink()
            raise DataError(
                f"{source.name}: arrived with SHA-256 {digits}, but {record} says {needed} of an "
                "earlier download; remove that record if the new file is the right one."
            )
    with write_text(record) as text:
        text.write(f"{digits}  {source.name}\n")
    log.warning(
        "%s: no published hash is known; SHA-256 %s of this first download is recorded in %s",
        *(source.name, digits, record),
    )
