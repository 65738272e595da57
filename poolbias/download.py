"""Files from the network: each checked by size and hash before it has its name, none half there."""

import http.client
import shutil
import tarfile
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from poolbias.errors import DataError, ToolError
from poolbias.files import atomic_path, reading, sha256_of

TIMEOUT = 60  # seconds without a byte
_BLOCK = 1 << 20


def fetch(url: str, path: Path, size: int, sha256: str) -> bool:
    """Download a file, unless it is there already; return whether it was downloaded.

    What arrives is written to `<path>.part`, which takes the name `path` once size and hash are
    right. A file that somebody put at `path` is taken if they are.

    Args:
        url: where it is.
        path: where it is to lie.
        size: its length in bytes; no more than one byte beyond is read.
        sha256: 64 hexadecimal digits.

    Raises:
        ToolError: if it cannot be fetched, with the way to put it there by hand.
        DataError: if other bytes arrived, or lie at `path`.
    """
    by_hand = f"get it elsewhere (SHA-256 {sha256}) and put it at {path}"
    if path.exists():
        _check(path, size, sha256, f"remove it, or {by_hand}")
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.part")
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT) as answer, part.open("wb") as file:
            left = size + 1
            while left and (block := answer.read(min(left, _BLOCK))):
                left -= file.write(block)
    except (OSError, http.client.HTTPException) as error:
        if isinstance(error, urllib.error.HTTPError):
            error.close()  # it is an answer, too
        reason = getattr(error, "reason", None) or error
        raise ToolError(
            f"{url}: cannot be fetched ({reason}); try again where the network is, or {by_hand}."
        ) from error
    _check(part, size, sha256, f"try again, or {by_hand}")
    part.replace(path)
    return True


def extract(archive: Path, members: Mapping[str, Path]) -> None:
    """Write members of a tar archive to files; nothing else of it is touched.

    Args:
        archive: the file, compressed or not.
        members: where to write each member, by its exact name.

    Raises:
        DataError: if the archive is damaged, or a member is missing or no plain file.
    """
    try:
        with reading(archive), tarfile.open(archive) as opened:
            for name, path in members.items():
                try:
                    member = opened.getmember(name)
                except KeyError:
                    raise DataError(f"{archive}: holds no {name}; get the archive anew.") from None
                content = opened.extractfile(member) if member.isreg() else None
                if content is None:
                    raise DataError(f"{archive}: {name} is no plain file; get the archive anew.")
                with content, atomic_path(path) as temporary, temporary.open("wb") as file:
                    shutil.copyfileobj(content, file)
    except tarfile.TarError as error:
        raise DataError(f"{archive}: is no tar archive ({error}); get it anew.") from error


def _check(path: Path, size: int, sha256: str, do: str) -> None:
    found: Any = path.stat().st_size
    needed: Any = size
    what = "bytes"
    if found == size:
        what, found, needed = "as SHA-256", sha256_of(path), sha256
    if found != needed:
        raise DataError(f"{path}: found {found} {what}, need {needed}; {do}.")
