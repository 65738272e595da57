"""Long computations kept in parts, so that a job that died goes on where it was.

The batches of a computation are the same in every process; a shard is the results of so many of
them in a row, kept as a file of its SHA-256 and a NumPy array. So a resumed job computes what is
missing exactly as it would have done, and every byte of its result is the same.
"""

import hashlib
import io
import logging
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poolbias.errors import told
from poolbias.files import atomic_path
from poolbias.stage import progress

log = logging.getLogger("poolbias")

ROWS = 2**15  # of a shard, at least: some seconds of work; our choice
Values = NDArray[np.float32]


def in_shards(
    batches: Sequence[Sequence[int] | NDArray[np.int64]],
    compute: Callable[[Any], Values],
    kept: Path | None,
    name: str,
    what: str,
    rows: int | None = None,
) -> Iterator[tuple[NDArray[np.int64], Values]]:
    """Yield rows and their values, [rows] and [rows, ...], shard by shard in the batches' order.

    Args:
        batches: the rows of each batch.
        compute: returns the values of a batch's rows.
        kept: folder of the shards; None keeps none. What fits into one shard is not kept either.
        name: of the computation within the folder.
        what: word for the log.
        rows: the least number of rows in a shard; None is `ROWS`.
    """
    shards = _cut(batches, rows or ROWS)
    folder = kept if len(shards) > 1 else None
    paths = [folder and folder / f"{name}-{number:05d}.shard" for number in range(len(shards))]
    there = [path is not None and path.is_file() for path in paths]
    total = sum(len(shard) for shard, done in zip(shards, there, strict=True) if not done)
    if any(there):
        log.info("%s: goes on, %d of %d shards are there", what, sum(there), len(shards))
    tick = progress(range(max(total, 1)), total, what, "batches")
    for shard, path in zip(shards, paths, strict=True):
        numbers = np.concatenate([np.asarray(batch, dtype=np.int64) for batch in shard])
        values = _read(path) if path is not None else None
        if values is None or len(values) != len(numbers):
            parts = []
            for batch in shard:
                next(tick, None)
                parts.append(compute(batch))
            values = np.concatenate(parts)
            if path is not None:
                _write(path, values)
        yield numbers, values


def _cut(batches: Sequence[Any], rows: int) -> list[list[Any]]:
    """Return the batches in groups of `rows` rows or a little more; the last one has the rest."""
    shards: list[list[Any]] = []
    held = rows
    for batch in batches:
        if held >= rows:
            shards.append([])
            held = 0
        shards[-1].append(batch)
        held += len(batch)
    return shards


def _write(path: Path, values: Values) -> None:
    """Keep a shard; one that finds no space is told of and the computation goes on."""
    stream = io.BytesIO()
    np.save(stream, values, allow_pickle=False)
    try:
        with atomic_path(path) as temporary, temporary.open("wb") as file:
            file.write(hashlib.sha256(stream.getbuffer()).digest())
            file.write(stream.getbuffer())
    except OSError as error:
        log.warning("a shard is not kept: %s", told(error))


def _read(path: Path) -> Values | None:
    """Return a kept shard, or None if there is none that is whole."""
    if not path.is_file():
        return None
    content = path.read_bytes()
    if hashlib.sha256(content[32:]).digest() != content[:32]:
        log.warning("%s: is damaged and made again", path)
        return None
    values: Values = np.load(io.BytesIO(content[32:]), allow_pickle=False)
    return values
