"""Tab-separated tables with a header line, and id-to-text files of a collection."""

import csv
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from poolbias.errors import DataError
from poolbias.files import open_text, reading, write_text

T = TypeVar("T")


def read_table(path: Path | str, columns: list[str]) -> pd.DataFrame:
    """Read a tab-separated table with a header; every column as text (`str`).

    Args:
        path: the file, plain or gzip.
        columns: columns that must be there; others are kept too.

    Raises:
        DataError: naming file and line for a missing column or a line of another width.
    """
    with reading(path), open_text(path) as text:
        lines = [line.rstrip("\n").split("\t") for line in text]
    header = lines[0] if lines else []
    missing = [column for column in columns if column not in header]
    if missing:
        raise DataError(
            f"{path}:1: column {missing[0]!r} is missing (found: {', '.join(header) or 'nothing'});"
            " add it or make the file again."
        )
    for number, fields in enumerate(lines[1:], start=2):
        if len(fields) != len(header):
            raise DataError(
                f"{path}:{number}: found {len(fields)} columns, need {len(header)} as in line 1; "
                "correct the line."
            )
    return pd.DataFrame(lines[1:], columns=header, dtype="str")


def read_column(path: Path | str, column: str) -> "pd.Series[str]":
    """Read one column of a table with a header, a line at a time: the others stay on disk.

    Raises:
        DataError: naming file and line for a column that is missing or a line of another width.
    """
    with reading(path), open_text(path) as text:
        header = text.readline().rstrip("\n").split("\t")
        if column not in header:
            raise DataError(
                f"{path}:1: column {column!r} is missing (found: {', '.join(header)}); add it or "
                "make the file again."
            )
        place, tabs = header.index(column), len(header) - 1

        def cells() -> Iterator[str]:
            for number, line in enumerate(text, start=2):
                if line.count("\t") != tabs:
                    raise DataError(
                        f"{path}:{number}: found {line.count(chr(9)) + 1} columns, need {tabs + 1} "
                        "as in line 1; correct the line."
                    )
                yield line.split("\t", place + 1)[place].rstrip("\n")

        parts = [pd.Series(block, dtype="str") for block in batched(cells(), 1 << 18)]
    return pd.concat(parts, ignore_index=True) if parts else pd.Series([], dtype="str")


def batched(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield lists of `size` items, the last one shorter."""
    iterator = iter(items)
    while block := list(islice(iterator, size)):
        yield block


def rows_of(ids: "pd.Series[str]", known: "pd.Series[str]", where: Path | str) -> NDArray[np.int64]:
    """Return the row of each id in `known`, int64 [ids].

    Raises:
        DataError: naming the first id that `known`, which was read from `where`, does not hold.
    """
    rows = pd.Index(known).get_indexer(pd.Index(ids))
    if (rows < 0).any():
        raise DataError(
            f"{where}: does not hold {ids.iloc[int((rows < 0).argmax())]!r}, which the run has; "
            "use a run of this collection."
        )
    return rows.astype(np.int64)


def write_table(path: Path | str, frame: pd.DataFrame, floats: str | None = None) -> None:
    """Write a frame atomically as tab-separated text with a header, without quotes or index.

    Args:
        path: the file to write, compressed if it ends in `.gz`.
        frame: cells must hold neither tab nor line break (`ValueError` otherwise).
        floats: printf format of float cells; default is the shortest that reads back the same.
    """
    with write_text(path) as text:
        try:
            frame.to_csv(
                text,
                sep="\t",
                index=False,
                lineterminator="\n",
                float_format=floats,
                quoting=csv.QUOTE_NONE,
            )
        except csv.Error as error:
            raise ValueError(f"{path}: a cell holds a tab or a line break") from error
