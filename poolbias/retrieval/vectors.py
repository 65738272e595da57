"""Files of vectors: `.npy` arrays of float32 or float16, read block by block."""

import io
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poolbias.errors import DataError
from poolbias.files import atomic_path

KINDS = {"float32": np.float32, "float16": np.float16}
Block = NDArray[np.float32]


class VectorFile:
    """The vectors of a `.npy` file, of which only what is asked for is ever in memory.

    A memory map would do the same for speed, but its pages count as the process's memory while the
    system has room for them; so blocks are read.

    Attributes:
        shape: (vectors, dimension).
        dtype: float32 or float16, as the file has them.
    """

    def __init__(self, path: Path, rows: int | None = None, part: slice | None = None) -> None:
        """Open the file.

        Args:
            path: a `.npy` file of float32 or float16 [vectors, dimension].
            rows: how many vectors are expected; None takes any number.
            part: the rows that this object is about, of all; None is all.

        Raises:
            DataError: if it is not such a file, holds another number of vectors, or is cut off.
        """
        self.path = path
        try:
            with path.open("rb") as file:
                self.shape, fortran, self.dtype = _header(file)
                self.start = file.tell()
                self.size = file.seek(0, io.SEEK_END)
        except Exception as error:  # the header is parsed as Python: anything can come of damage
            raise DataError(
                f"{path}: not a file of vectors ({error}); encode the texts again."
            ) from error
        right = len(self.shape) == 2 and self.dtype.name in KINDS and not fortran
        if not right or (rows is not None and self.shape[0] != rows):
            raise DataError(
                f"{path}: found {self.dtype} {list(self.shape)}, need float32 or float16 "
                f"[{'vectors' if rows is None else rows}, dimension] as the table has rows; "
                "encode the texts again."
            )
        self.width = self.shape[1] * self.dtype.itemsize
        needed = self.start + self.shape[0] * self.width
        if self.size != needed:
            raise DataError(
                f"{path}: found {self.size} bytes, need {needed} for {self.shape[0]} vectors; "
                "encode the texts again."
            )
        if part is not None:
            first, last, _ = part.indices(self.shape[0])
            self.start += first * self.width
            self.shape = (max(last - first, 0), self.shape[1])

    def __len__(self) -> int:
        return int(self.shape[0])

    def __getitem__(self, rows: slice | NDArray[np.int64]) -> NDArray[Any]:
        """Return the vectors of a slice without step, or of the rows named, of the file's dtype."""
        if not isinstance(rows, slice):
            return np.concatenate([self[row : row + 1] for row in rows] or [self[0:0]])
        first, last, _ = rows.indices(len(self))
        found = np.empty((max(last - first, 0), self.shape[1]), self.dtype)
        with self.path.open("rb", buffering=0) as file:
            file.seek(self.start + first * self.width)
            view = memoryview(found).cast("B") if found.size else memoryview(b"")
            done = 0
            while done < len(view):
                read = file.readinto(view[done:])
                if not read:
                    raise DataError(f"{self.path}: ends early; encode the texts again.")
                done += read
        return found


def _header(file: Any) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = np.lib.format.read_magic(file)
    if version == (1, 0):
        return np.lib.format.read_array_header_1_0(file)
    return np.lib.format.read_array_header_2_0(file)


def part_of(count: int, shard: int, shards: int) -> slice:
    """Return the rows of a shard, numbered from 0, of `count` rows in `shards` parts."""
    return slice(count * shard // shards, count * (shard + 1) // shards)


def write_vectors(path: Path, vectors: NDArray[Any]) -> None:
    """Write an array, such as vectors [vectors, dimension], atomically as a `.npy` file."""
    with atomic_path(path) as temporary, temporary.open("wb") as file:
        np.save(file, vectors, allow_pickle=False)
