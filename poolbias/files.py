"""Writing that leaves either the whole file or none, and the hashes by which files are known."""

import contextlib
import errno
import gzip
import hashlib
import io
import json
import os
import re
import shutil
import tempfile
import time
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from poolbias.errors import DataError


@contextlib.contextmanager
def atomic_path(path: Path | str) -> Iterator[Path]:
    """Yield a temporary path beside `path` that takes its name if the block succeeds.

    The temporary file lies in the same folder, so that the rename is atomic; it is removed if the
    block raises, and what stood at `path` before is then untouched.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        with _writing(path, temporary):
            yield temporary
            with temporary.open("rb") as written:
                os.fsync(written.fileno())
            temporary.chmod(0o666 & ~_umask())
            temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def atomic_folder(path: Path | str) -> Iterator[Path]:
    """Yield a temporary folder beside `path` that takes its name if the block succeeds.

    What stood at `path` before is replaced as a whole, or untouched if the block raises.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as name:
        temporary = Path(name) / path.name
        temporary.mkdir()
        with _writing(path, temporary):
            yield temporary
            if path.exists():
                path.rename(Path(name) / "old")
            temporary.rename(path)


@contextlib.contextmanager
def _writing(path: Path, temporary: Path) -> Iterator[None]:
    """Tell of what cannot be written by the name that it was to have, whatever its writer says.

    A full disk does not say for what; NumPy says that it wrote less than asked, without a number,
    and safetensors has an error of its own around the system's.
    """
    try:
        yield
    except OSError as error:
        if error.errno is None and re.search(r"requested and \d+ written", str(error)):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path)) from error
        if error.filename is None or str(error.filename).startswith(str(temporary)):
            error.filename = str(path)
        raise
    except Exception as error:
        number = re.search(r"\(os error (\d+)\)", str(error))
        if number is None:
            raise
        code = int(number[1])
        raise OSError(code, os.strerror(code), str(path)) from error


def sweep(path: Path, older_than: float = 86400.0) -> None:
    """Remove what killed jobs left half-written beside `path`, `older_than` seconds old or more."""
    pattern = re.compile(rf"\.{re.escape(path.name)}\.[a-z0-9_]{{8}}")  # as tempfile names them
    if not path.parent.is_dir():
        return
    for left in filter(lambda other: pattern.fullmatch(other.name), path.parent.iterdir()):
        with contextlib.suppress(OSError):  # another job may remove it at the same time
            if time.time() - left.stat().st_mtime < older_than:
                continue
            if left.is_dir():
                shutil.rmtree(left)
            else:
                left.unlink()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


@contextlib.contextmanager
def write_text(path: Path | str) -> Iterator[IO[str]]:
    """Open `path` for atomic writing as UTF-8; a name ending in `.gz` is compressed.

    The gzip header carries neither name nor time, so that equal text gives equal bytes.
    """
    with atomic_path(path) as temporary, temporary.open("wb") as raw:
        if str(path).endswith(".gz"):
            with (
                gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0, compresslevel=6) as gz,
                io.TextIOWrapper(gz, encoding="utf-8", newline="\n") as text,
            ):
                yield text
        else:
            with io.TextIOWrapper(raw, encoding="utf-8", newline="\n") as text:
                yield text


def open_text(path: Path | str) -> IO[str]:
    """Open `path` (plain or `.gz`) for reading UTF-8; a byte order mark is dropped, CRLF is LF.

    Raises:
        DataError: if the file does not exist.
    """
    try:
        if str(path).endswith(".gz"):
            return gzip.open(path, "rt", encoding="utf-8-sig")
        return Path(path).open(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise DataError(f"{path}: no such file; make it or correct the path.") from error


@contextlib.contextmanager
def reading(path: Path | str) -> Iterator[None]:
    """Tell of a file that cannot be read, whatever its reader makes of it, by its name.

    Raises:
        DataError: in place of what a damaged gzip, text or array file raises in the block.
    """
    try:
        yield
    except (UnicodeDecodeError, EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(
            f"{path}: cannot be read ({error}); the file is damaged or not UTF-8, make it again."
        ) from error


def write_json(path: Path | str, value: Any) -> None:
    """Write `value` atomically as indented JSON with sorted keys; refuse infinities and NaN."""
    with write_text(path) as text:
        json.dump(value, text, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False)
        text.write("\n")


def read_json(path: Path | str) -> Any:
    """Read one JSON value.

    Raises:
        DataError: naming the file and the line if it is missing or is not JSON.
    """
    with reading(path), open_text(path) as text:
        try:
            return json.load(text)
        except json.JSONDecodeError as error:
            raise DataError(
                f"{path}:{error.lineno}: not JSON ({error.msg}); restore the file or make it again."
            ) from error


def sha256_of(path: Path | str) -> str:
    """Return the SHA-256 of a file's bytes as 64 hexadecimal digits.

    Of a folder it is that of the names and SHA-256 of its files, hidden ones left out.
    """
    path = Path(path)
    if path.is_dir():
        return sha256_of_files(
            {str(file.relative_to(path)): sha256_of(file) for file in files_within(path)}
        )
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def files_within(folder: Path) -> list[Path]:
    """Return the files of a folder and of the folders in it, hidden ones left out, in order."""
    return sorted(file for file in folder.rglob("[!.]*") if file.is_file())


def sha256_of_files(files: Mapping[str, str]) -> str:
    """Return the SHA-256 of a folder from those of its files by name, in the mapping's order."""
    told = "".join(f"{digits}  {name}\n" for name, digits in files.items())
    return hashlib.sha256(told.encode()).hexdigest()


def hash_of(value: Any, digits: int = 6) -> str:
    """Return the first `digits` hexadecimal digits of the SHA-256 of `value` as canonical JSON.

    Equal values have equal hashes however they are spelled: numbers are hashed as floats (1 and
    1.0 are one), keys in sorted order.
    """
    canonical = json.dumps(_canonical(value), sort_keys=True, ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(canonical.encode()).hexdigest()[:digits]


def _canonical(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _canonical(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_canonical(item) for item in value]
    if isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    return value
