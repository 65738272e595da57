"""The ratios of earlier commits, and whether one has fallen since."""

from pathlib import Path

import pandas as pd

from benchmarks.timing import Ratio
from poolbias.errors import DataError
from poolbias.formats.tsv import read_table, write_table

HISTORY = Path(__file__).with_name("history.tsv")
COLUMNS = ["commit", "machine", "threads", "name", "median", "low", "high"]


def read(path: Path) -> pd.DataFrame:
    """Return what was recorded, oldest first, with `COLUMNS`; no rows where there is no file.

    Raises:
        DataError: if the file is not such a table, or a number in it is none.
    """
    if not path.exists():
        return pd.DataFrame(columns=COLUMNS)
    frame = read_table(path, COLUMNS)
    for column in COLUMNS[-3:]:
        numbers = pd.to_numeric(frame[column], errors="coerce")
        if numbers.isna().any():
            row = int(numbers.isna().to_numpy().argmax())
            raise DataError(
                f"{path}:{row + 2}: {column} is {frame[column].iloc[row]!r}, need a number; "
                "restore the file from git."
            )
        frame[column] = numbers.astype("float64")
    return frame[COLUMNS]


def record(ratios: list[Ratio], commit: str, machine: str, threads: int, path: Path) -> None:
    """Append ratios to the history."""
    rows = [
        (
            commit,
            machine,
            str(threads),
            r.name,
            round(r.median, 4),
            round(r.low, 4),
            round(r.high, 4),
        )
        for r in ratios
    ]
    new = pd.DataFrame(rows, columns=COLUMNS)
    before = read(path)
    write_table(path, new if before.empty else pd.concat([before, new]), floats="%.4f")


def fallen(ratios: list[Ratio], history: pd.DataFrame, machine: str, threads: int) -> list[str]:
    """Return a sentence per ratio that fell by more than its spread.

    It is held against the last one of its name on the same kind of machine with as many threads.
    The spread is that between the quartiles, of the two measurements the wider one (our choice).

    Args:
        ratios: just measured.
        history: columns `COLUMNS`, oldest first.
        machine: processor and cores, as recorded.
        threads: of the computations.
    """
    same = history[(history["machine"] == machine) & (history["threads"] == str(threads))]
    last = same.drop_duplicates("name", keep="last").set_index("name")
    found = []
    for now in ratios:
        if now.name not in last.index:
            continue
        then = last.loc[now.name]
        spread = max(now.high - now.low, then["high"] - then["low"])
        if then["median"] - now.median > spread:
            found.append(
                f"{now.name}: fell from {then['median']:.2f} (commit {str(then['commit'])[:7]}) to "
                f"{now.median:.2f}, by more than the spread of {spread:.2f}."
            )
    return found
