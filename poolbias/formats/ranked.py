"""Runs without scores: MS MARCO's form, `query document rank`; and tables of two ids."""

from pathlib import Path

import numpy as np
import pandas as pd

from poolbias.errors import DataError
from poolbias.files import open_text, reading

COLUMNS = ["query_id", "document_id", "rank"]


def columns_of(path: Path | str) -> int:
    """Return the number of columns of a file's first line; 0 if it has none."""
    with reading(path), open_text(path) as text:
        return len(text.readline().split())


def read_ranked(path: Path | str) -> pd.DataFrame:
    """Read a run in MS MARCO's form, plain or gzip: query, document and rank, by tabs or blanks.

    Returns:
        A frame in file order with columns `query_id` (str), `document_id` (str), `rank` (int64) and
        `score` (float64): minus the rank, since the form has none.

    Raises:
        DataError: naming file and line for another number of columns, a rank that is no whole
            number from 1 on, or a rank or document that stands twice for one query.
    """
    with reading(path), open_text(path) as text:
        lines = [line.split() for line in text]
    seen: dict[tuple[str, str, str], int] = {}
    for number, fields in enumerate(lines, start=1):
        if len(fields) != len(COLUMNS):
            raise DataError(
                f"{path}:{number}: found {len(fields)} columns, need {len(COLUMNS)} "
                f"({' '.join(COLUMNS)}); correct the line."
            )
        query, document, rank = fields
        if not rank.isascii() or not rank.isdigit() or int(rank) < 1:
            raise DataError(
                f"{path}:{number}: rank is {rank!r}, need a whole number from 1 on; correct it."
            )
        for kind, value in (("document", document), ("rank", str(int(rank)))):
            first = seen.setdefault((kind, query, value), number)
            if first != number:
                raise DataError(
                    f"{path}:{number}: {kind} {value} stands twice for query {query} (first on "
                    f"line {first}); need a ranked list, keep one of the lines."
                )
    frame = pd.DataFrame(lines, columns=COLUMNS, dtype="str")
    frame["rank"] = frame["rank"].astype(np.int64)
    frame["score"] = -frame["rank"].astype(np.float64)
    return frame


def read_pairs(path: Path | str) -> dict[str, str]:
    """Read a table of two ids per line, by tabs or blanks, as what the first stands for.

    Raises:
        DataError: naming file and line for another number of columns, or an id that stands for two.
    """
    found: dict[str, str] = {}
    with reading(path), open_text(path) as text:
        for number, line in enumerate(text, start=1):
            fields = line.split()
            if len(fields) != 2:
                raise DataError(
                    f"{path}:{number}: found {len(fields)} columns, need 2 (its id and ours); "
                    "correct the line."
                )
            if found.setdefault(fields[0], fields[1]) != fields[1]:
                raise DataError(
                    f"{path}:{number}: id {fields[0]} stands for {found[fields[0]]} and "
                    f"{fields[1]}, need one; keep one of the lines."
                )
    return found
