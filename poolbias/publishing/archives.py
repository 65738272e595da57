"""Small files in one compressed archive whose bytes depend on nothing but theirs."""

import io
import lzma
import tarfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from poolbias.errors import DataError
from poolbias.files import atomic_path, reading


def pack(path: Path, files: Mapping[str, bytes]) -> None:
    """Write files as a `.tar.xz`: in the order of their names, without owner, time or mode.

    Args:
        path: the archive.
        files: contents by name.
    """
    with atomic_path(path) as temporary, tarfile.open(temporary, "w:xz") as archive:
        for name, content in sorted(files.items()):
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(content), 0o644
            archive.addfile(member, io.BytesIO(content))


def unpack(path: Path) -> dict[str, bytes]:
    """Return the contents of the plain files of an archive by name.

    Raises:
        DataError: if the archive is missing or damaged, or a name leads out of a folder.
    """
    if not path.is_file():
        raise DataError(f"{path}: no such archive, need it as its manifest says; restore it.")
    try:
        with reading(path), tarfile.open(path) as archive:
            files = {}
            for member in archive:
                content = archive.extractfile(member) if member.isreg() else None
                if content is None or not inside(member.name):
                    raise DataError(
                        f"{path}: found {member.name!r}, need plain files below a folder; "
                        "restore the archive."
                    )
                files[member.name] = content.read()
            return files
    except (tarfile.TarError, lzma.LZMAError) as error:
        raise DataError(f"{path}: cannot be read ({error}); restore the archive.") from error


def inside(name: str) -> bool:
    """Return whether a name is that of a file below a folder, and of no other place."""
    parts = PurePosixPath(name).parts
    return bool(parts) and ".." not in parts and parts[0] != "/"
