"""Archives unpacked with care: nothing outside the folder, no links, no more than promised."""

import contextlib
import shutil
import stat
import tarfile
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import IO

from poolbias.errors import DataError
from poolbias.files import atomic_folder, atomic_path, reading


def unpack(archive: Path, folder: Path, most_bytes: int) -> list[str]:
    """Unpack a tar (compressed or not) or zip archive into a folder that appears whole or not.

    Args:
        archive: the file.
        folder: where its members go.
        most_bytes: the most that they may hold together, counted as they are read.

    Returns:
        The names of the files, in the archive's order.

    Raises:
        DataError: naming the member for an absolute name or one with `..`, a link, a device, a
            name that stands twice, or members longer than `most_bytes` together; for an archive
            that is damaged or of another kind.
    """
    names: list[str] = []
    with _whole(archive), reading(archive), atomic_folder(folder) as temporary:
        left = most_bytes
        for name, content in _members(archive):
            target = temporary / _safe(name, archive)
            if target.exists():
                raise DataError(f"{archive}: {name} stands twice; get the archive anew.")
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("wb") as file:
                while block := content.read(min(1 << 20, left + 1)):
                    left -= file.write(block)
                    if left < 0:
                        raise DataError(
                            f"{archive}: {name} goes beyond the {most_bytes} bytes that the "
                            "archive may hold; get it anew, or raise most_bytes if it is right."
                        )
            names.append(name)
        if not names:
            raise DataError(f"{archive}: holds no file; get it anew.")
    return names


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


@contextlib.contextmanager
def _whole(archive: Path) -> Iterator[None]:
    """Tell of a damaged archive, wherever its reader notices."""
    try:
        yield
    except (tarfile.TarError, zipfile.BadZipFile, RuntimeError, NotImplementedError) as error:
        raise DataError(f"{archive}: is no whole archive ({error}); get it anew.") from error


def _members(archive: Path) -> Iterator[tuple[str, IO[bytes]]]:
    if zipfile.is_zipfile(archive):
        yield from _zip_members(archive)
    else:
        yield from _tar_members(archive)


def _tar_members(archive: Path) -> Iterator[tuple[str, IO[bytes]]]:
    with tarfile.open(archive, "r|*") as opened:
        for member in opened:
            if member.isdir():
                _safe(member.name, archive)
                continue
            content = opened.extractfile(member) if member.isreg() else None
            if content is None:
                raise DataError(
                    f"{archive}: {member.name} is a link or a device, need plain files only; get "
                    "the archive anew."
                )
            yield member.name, content


def _zip_members(archive: Path) -> Iterator[tuple[str, IO[bytes]]]:
    with zipfile.ZipFile(archive) as opened:
        for member in opened.infolist():
            if stat.S_IFMT(member.external_attr >> 16) not in (0, stat.S_IFREG, stat.S_IFDIR):
                raise DataError(
                    f"{archive}: {member.filename} is a link or a device, need plain files only; "
                    "get the archive anew."
                )
            if member.is_dir():
                _safe(member.filename, archive)
                continue
            with opened.open(member) as content:
                yield member.filename, content


def _safe(name: str, archive: Path) -> Path:
    parts = PurePosixPath(name).parts
    unsafe = not parts or name.startswith(("/", "\\")) or ".." in parts or ":" in name
    if unsafe or "\\" in name or any(not part.isprintable() for part in parts):
        raise DataError(
            f"{archive}: {name!r} would lie outside the folder, need plain names within it; get "
            "the archive anew."
        )
    return Path(*parts)
