"""Scores of query-document pairs by row, as a folder of arrays that can be opened memory-mapped.

`query_rows.npy` and `document_rows.npy` int32, `scores.npy` float32, one entry per pair, sorted by
query row and document row.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from poolbias.errors import DataError
from poolbias.files import atomic_folder

_ARRAYS = ("query_rows", "document_rows", "scores")


@dataclass(frozen=True)
class PairScores:
    """The arrays of the module's text: int32, int32 and float32 [pairs]."""

    query_rows: NDArray[np.int32]
    document_rows: NDArray[np.int32]
    scores: NDArray[np.float32]

    def save(self, folder: Path | str) -> None:
        """Write the arrays; the folder appears whole or not at all."""
        with atomic_folder(folder) as temporary:
            for name in _ARRAYS:
                np.save(temporary / f"{name}.npy", getattr(self, name), allow_pickle=False)

    @classmethod
    def load(cls, folder: Path | str) -> "PairScores":
        """Open the arrays memory-mapped; `DataError` if one is missing, too short or unsorted."""
        arrays = {}
        for name in _ARRAYS:
            path = Path(folder) / f"{name}.npy"
            try:
                arrays[name] = np.load(path, mmap_mode="r", allow_pickle=False)
            except (OSError, ValueError, EOFError) as error:
                raise DataError(
                    f"{path}: cannot be read ({error}); delete {folder} and make it again."
                ) from error
        found = cls(**arrays)
        keys = found._keys()
        if len(keys) != len(found.scores) or not np.all(keys[1:] > keys[:-1]):
            raise DataError(
                f"{folder}: pairs are not sorted, or not as many as scores; delete it and make it "
                "again."
            )
        return found

    def of(self, frame: pd.DataFrame) -> NDArray[np.float64]:
        """Return the score of each row's pair, float64 [rows]; NaN where there is none.

        Args:
            frame: columns query_row and document_row.
        """
        keys, asked = self._keys(), key_of(frame)
        if not len(keys):
            return np.full(len(asked), np.nan)
        place = np.minimum(np.searchsorted(keys, asked), len(keys) - 1)
        return np.where(keys[place] == asked, self.scores[place].astype(np.float64), np.nan)

    def _keys(self) -> NDArray[np.int64]:
        return self.query_rows.astype(np.int64) << 32 | self.document_rows.astype(np.int64)


def key_of(frame: pd.DataFrame) -> NDArray[np.int64]:
    """Return one number per pair of a frame's columns query_row and document_row, int64 [rows]."""
    keys: NDArray[np.int64] = frame["query_row"].to_numpy(np.int64) << 32
    keys |= frame["document_row"].to_numpy(np.int64)
    return keys
