"""Runs from files, official or a user's, brought into the files of the three splits.

Files may be far larger than memory and list queries in any order: lines are dealt into buckets of
neighbouring queries on disk, and each bucket is then sorted by itself.
"""

import contextlib
import gzip
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd

from poolbias.errors import DataError
from poolbias.files import open_text, reading, write_text
from poolbias.formats.trec import run_lines
from poolbias.formats.tsv import write_table
from poolbias.retrieval.runs import SPLITS

BUCKETS = 256
Row = tuple[str, str, float]


@dataclass(frozen=True, slots=True)
class Plan:
    """How files become runs.

    Attributes:
        depth: documents kept per query.
        ranked: whether the files tell ranks; without them all scores are 0, and the canonical
            order (by document id) means nothing.
        tag: the runs' last column.
        buckets: how many files the lines are dealt into.
    """

    depth: int
    ranked: bool
    tag: str
    buckets: int = BUCKETS


def rows_of(path: Path) -> Iterator[Row]:
    """Yield (query id, document id, score) of each line of a file, whatever its format.

    `.tar.gz` holds one table of query, document and texts; `.tsv` is such a table, or query,
    document and rank; any other is a TREC run. A rank's score is its negative; without one it is 0.

    Raises:
        DataError: naming file and line for a line of another shape.
    """
    name = path.name.removesuffix(".gz")
    with reading(path), _lines(path) as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                yield _table_row(line) if name.endswith((".tsv", ".tar")) else _trec_row(line)
            except ValueError as error:
                raise DataError(
                    f"{path}:{number}: {error}, need a TREC run's six columns, or query, document "
                    "and rank with tabs between; correct the line."
                ) from error


def bring(
    files: Sequence[Path], queries: pd.DataFrame, outputs: dict[str, Path], plan: Plan
) -> dict[str, Any]:
    """Write the runs of the three splits and the table of queries without hits.

    Args:
        files: the given files; rows of queries that are not the collection's are passed over.
        queries: columns `query_id`, `split`; their order is the order of the files.
        outputs: a path each for `train`, `dev`, `test` and `no_hits`.
        plan: how.

    Returns:
        Counts for the log.

    Raises:
        DataError: as `rows_of`; for a document listed twice for a query; if no row is of the
            collection's queries.
    """
    rows = {name: row for row, name in enumerate(queries["query_id"])}
    splits = queries["split"].to_numpy()
    hits = np.zeros(len(queries), dtype=bool)
    told = {"queries": len(queries), "rows": 0, "rows_of_other_queries": 0}
    with tempfile.TemporaryDirectory(dir=outputs["train"].parent, prefix=".buckets.") as folder:
        width = -(-len(queries) // plan.buckets)
        buckets = _deal(files, rows, width, Path(folder), told)
        with contextlib.ExitStack() as stack:
            writers = {split: stack.enter_context(write_text(outputs[split])) for split in SPLITS}
            for bucket in buckets:
                for row, lines, count in _sorted_lines(bucket, queries, plan):
                    writers[splits[row]].write(lines)
                    hits[row] = True
                    told["rows"] += count
    if not told["rows"]:
        raise DataError(
            f"{', '.join(map(str, files))}: no row is of a query of this collection (first: "
            f"{queries['query_id'].iloc[0]}); give the runs of these queries."
        )
    write_table(outputs["no_hits"], queries.loc[~hits, ["query_id", "split"]])
    return told | {"no_hits": int((~hits).sum())}


@contextlib.contextmanager
def _lines(path: Path) -> Iterator[Iterator[str]]:
    if not path.name.endswith(".tar.gz"):
        with open_text(path) as text:
            yield iter(text)
        return
    with tarfile.open(path, "r|gz") as archive:
        for member in archive:
            content = archive.extractfile(member) if member.isreg() else None
            if content is not None:
                yield (line.decode("utf-8") for line in content)
                return
    raise DataError(f"{path}: holds no file; get the archive anew.")


def _table_row(line: str) -> Row:
    columns = line.rstrip("\r\n").split("\t", 4)
    if len(columns) < 2:
        raise ValueError(f"found {len(columns)} columns")
    ranked = len(columns) == 3
    return columns[0], columns[1], -float(int(columns[2])) if ranked else 0.0


def _trec_row(line: str) -> Row:
    columns = line.split()
    if len(columns) != 6:
        raise ValueError(f"found {len(columns)} columns")
    return columns[0], columns[2], float(columns[4])


def _deal(
    files: Sequence[Path], rows: dict[str, int], width: int, folder: Path, told: dict[str, Any]
) -> list[Path]:
    """Deal lines (row of the query, document, score) into files of `width` queries each."""
    opened: dict[int, IO[str]] = {}
    with contextlib.ExitStack() as stack:
        for path in files:
            for query, document, score in rows_of(path):
                row = rows.get(query)
                if row is None:
                    told["rows_of_other_queries"] += 1
                    continue
                number = row // width
                if number not in opened:
                    opened[number] = stack.enter_context(
                        gzip.open(folder / f"{number:06}", "wt", 1, encoding="utf-8")
                    )
                opened[number].write(f"{row}\t{document}\t{score!r}\n")
    return [folder / f"{number:06}" for number in sorted(opened)]


def _sorted_lines(
    bucket: Path, queries: pd.DataFrame, plan: Plan
) -> Iterator[tuple[int, str, int]]:
    """Yield the row of each query of a bucket, its run's lines, best first, and their number."""
    with gzip.open(bucket, "rt", encoding="utf-8") as text:
        frame = pd.read_csv(
            text,
            sep="\t",
            names=["row", "document_id", "score"],
            dtype={"row": "int64", "document_id": "str", "score": "float32"},
            na_filter=False,
            quoting=3,
        )
    if not plan.ranked:
        frame["score"] = np.float32(0)
    twice = frame.duplicated(["row", "document_id"])
    if twice.any():
        found = frame[twice].iloc[0]
        query = queries["query_id"].iloc[int(found["row"])]
        raise DataError(
            f"run: query {query} lists document {found['document_id']} twice, need it once; "
            "correct the file."
        )
    order = ["row", "score", "document_id"]
    frame = frame.sort_values(order, ascending=[True, False, True], ignore_index=True)
    frame["rank"] = frame.groupby("row").cumcount() + 1
    frame = frame[frame["rank"] <= plan.depth]
    for _, part in frame.groupby("row", sort=True):
        row = int(part["row"].iloc[0])
        query = queries["query_id"].iloc[row]
        yield row, run_lines(part.assign(query_id=query), plan.tag), len(part)
