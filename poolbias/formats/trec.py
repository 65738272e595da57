"""TREC run files (`query Q0 document rank score tag`) and qrels (`query 0 document grade`)."""

import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pandas as pd

from poolbias.errors import DataError
from poolbias.files import open_text, reading, write_text

_RUN = ["query_id", "Q0", "document_id", "rank", "score", "tag"]
_QRELS = ["query_id", "iteration", "document_id", "grade"]


def read_run(path: Path | str) -> pd.DataFrame:
    """Read a TREC run, plain or gzip.

    Returns:
        A frame in file order with columns `query_id` (str), `document_id` (str), `rank` (int64) and
        `score` (float64).

    Raises:
        DataError: naming file and line for a wrong number of columns, a rank or score that is not
            a finite number, or a document listed twice for one query; or a file without bytes.
    """
    frame = _read(path, _RUN, {"rank": _whole_number, "score": _finite_number})
    return frame[["query_id", "document_id", "rank", "score"]]


def read_run_blocks(path: Path | str, queries: int) -> Iterator[pd.DataFrame]:
    """Yield a TREC run in parts of so many whole queries, so that memory does not grow with it.

    Each part is as `read_run` returns it.

    Raises:
        DataError: as `read_run`, and for a query whose lines do not stand together.
    """
    done: set[str] = set()
    held: list[str] = []
    current, count = "", 0
    with reading(path), open_text(path) as text:
        for line in text:
            query = line.split(maxsplit=1)[0] if line.strip() else ""
            if query != current:
                if query in done:
                    raise DataError(
                        f"{path}: the lines of query {query} do not stand together; sort the run "
                        "by query."
                    )
                done.add(query)
                current, count = query, count + 1
                if count > queries:
                    yield _parse_block(path, held)
                    held, count = [], 1
            held.append(line)
    if held or not done:
        yield _parse_block(path, held)


def _parse_block(path: Path | str, lines: list[str]) -> pd.DataFrame:
    if not lines:
        return read_run(path)  # without lines: a run without hits, or a file that was not written
    columns = [line.split() for line in lines]
    if any(len(row) != len(_RUN) for row in columns):
        return read_run(path)  # which tells of the first bad line
    frame = pd.DataFrame(
        {
            "query_id": pd.Series([row[0] for row in columns], dtype="str"),
            "document_id": pd.Series([row[2] for row in columns], dtype="str"),
        }
    )
    try:
        frame["rank"] = np.array([row[3] for row in columns]).astype(np.int64)
        frame["score"] = np.array([row[4] for row in columns]).astype(np.float64)
    except ValueError:
        return read_run(path)
    bad = not np.isfinite(frame["score"]).all() or frame.duplicated(["query_id", "document_id"])
    return read_run(path) if np.any(bad) else frame


def read_qrels(path: Path | str) -> pd.DataFrame:
    """Read TREC qrels, plain or gzip.

    Returns:
        A frame in file order with columns `query_id` (str), `document_id` (str), `grade` (int64).

    Raises:
        DataError: naming file and line for a wrong number of columns, a grade that is not a whole
            number, or a document judged twice for one query.
    """
    frame = _read(path, _QRELS, {"grade": _whole_number})
    return frame[["query_id", "document_id", "grade"]]


def write_run(path: Path | str, run: pd.DataFrame, tag: str) -> None:
    """Write a run (`query_id`, `document_id`, `rank`, `score`) atomically in row order.

    Scores are float32 and printed with the shortest digits that read back to the same float32.
    """
    with write_text(path) as text:
        text.write(run_lines(run, tag))


def run_lines(run: pd.DataFrame, tag: str) -> str:
    """Return a run (`query_id`, `document_id`, `rank`, `score`) as lines, as `write_run` does."""
    scores = np.char.mod("%s", run["score"].to_numpy(np.float32).astype(str))
    rows = zip(run["query_id"], run["document_id"], run["rank"], scores, strict=True)
    return "".join(f"{q} Q0 {d} {rank} {score} {tag}\n" for q, d, rank, score in rows)


def write_qrels(path: Path | str, qrels: pd.DataFrame) -> None:
    """Write qrels (`query_id`, `document_id`, `grade`) atomically in row order."""
    rows = zip(qrels["query_id"], qrels["document_id"], qrels["grade"], strict=True)
    with write_text(path) as text:
        text.writelines(f"{q} 0 {d} {grade}\n" for q, d, grade in rows)


def _whole_number(text: str) -> int:
    return int(text)


def _finite_number(text: str) -> float:
    number = float(text)
    if not np.isfinite(number):
        raise ValueError
    return number


def _read(
    path: Path | str, names: list[str], numbers: dict[str, Callable[[str], Any]]
) -> pd.DataFrame:
    """Read fast with pandas; only when something is off, look for the first bad line."""
    with open_text(path) as text:
        try:
            frame = pd.read_csv(
                text,
                sep=r"\s+",
                header=None,
                names=names,
                dtype={name: "str" for name in names if name not in numbers}
                | {name: "float64" if name == "score" else "int64" for name in numbers},
                engine="c",
                quoting=3,
                na_filter=False,
                index_col=False,
                on_bad_lines="error",
            )
        except (
            ValueError,
            pd.errors.ParserError,
            UnicodeDecodeError,
            OSError,
            EOFError,
            zlib.error,
        ) as error:
            _report_first_bad_line(path, names, numbers, error)
    if frame.empty and Path(path).stat().st_size == 0:  # a gzip without lines is a run without hits
        raise DataError(f"{path}: has no bytes, need a file that was written; make it again.")
    if (frame[names[-1]] == "").any() or not all(np.isfinite(frame[n]).all() for n in numbers):
        _report_first_bad_line(path, names, numbers, None)
    duplicate = frame.duplicated(["query_id", "document_id"]).to_numpy()
    if duplicate.any():
        row = frame.iloc[int(duplicate.argmax())]
        _report_duplicate(path, row["query_id"], row["document_id"])
    return frame


def _report_first_bad_line(
    path: Path | str,
    names: list[str],
    numbers: dict[str, Callable[[str], Any]],
    cause: Exception | None,
) -> NoReturn:
    line_number = 0
    try:
        with open_text(path) as text:
            for line_number, line in enumerate(text, start=1):
                fields = line.split()
                if fields and len(fields) != len(names):
                    raise DataError(
                        f"{path}:{line_number}: found {len(fields)} columns, need {len(names)} "
                        f"({' '.join(names)}); correct the line (ids hold no blanks)."
                    )
                for name, number in numbers.items() if fields else ():
                    found = fields[names.index(name)]
                    try:
                        number(found)
                    except ValueError:
                        kind = "a finite number" if number is _finite_number else "a whole number"
                        raise DataError(
                            f"{path}:{line_number}: {name} is {found!r}, need {kind}; "
                            "correct the line."
                        ) from None
    except (UnicodeDecodeError, OSError, EOFError, zlib.error) as error:
        raise DataError(
            f"{path}:{line_number + 1}: cannot be read ({error}); "
            "the file is damaged or not UTF-8, make it again."
        ) from error
    raise DataError(f"{path}: cannot be read ({cause}); make the file again.") from cause


def _report_duplicate(path: Path | str, query_id: str, document_id: str) -> NoReturn:
    with open_text(path) as text:
        lines = [
            number
            for number, line in enumerate(text, start=1)
            if (fields := line.split()) and (fields[0], fields[2]) == (query_id, document_id)
        ]
    raise DataError(
        f"{path}:{lines[1]}: document {document_id} stands twice for query {query_id} "
        f"(first on line {lines[0]}); keep one of the lines."
    )
