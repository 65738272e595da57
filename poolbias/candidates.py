"""The candidates table: which documents may be drawn as negatives of a query, how likely.

A folder of memory-mapped arrays, one row per candidate, the rows of a query together by rank:
`offsets.npy` int64 [queries + 1], `documents.npy` int32 (row in the collection's documents),
`ranks.npy` int32 (retriever's rank, from 1), `probability.npy` float32 (sums to 1 per query),
`relevant.npy` uint8 (by the truth; absent where it is not known), `positives.npy` int32 and
`positive_offsets.npy` int64 (the labelled documents), `query_rows.npy` int32 (row in the
collection's queries), `uniform.npy` uint8 [queries] (1 where all candidates of a query are equally
likely, so that a draw need not read them; absent in older tables). A query without a labelled
document or without a candidate is not there.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poolbias.errors import DataError
from poolbias.files import atomic_folder
from poolbias.formats.npy import finish_array, read_array


@dataclass(frozen=True)
class Candidates:
    """The table in memory or memory-mapped; see the module's text for the arrays."""

    query_rows: NDArray[np.int32]
    offsets: NDArray[np.int64]
    documents: NDArray[np.int32]
    ranks: NDArray[np.int32]
    probability: NDArray[np.float32]
    positive_offsets: NDArray[np.int64]
    positives: NDArray[np.int32]
    relevant: NDArray[np.uint8] | None = None
    uniform: NDArray[np.uint8] | None = None

    def __len__(self) -> int:
        return len(self.query_rows)

    def save(self, folder: Path | str) -> None:
        """Write the arrays; the folder appears whole or not at all."""
        with atomic_folder(folder) as temporary:
            for name, array in vars(self).items():
                if array is not None:
                    np.save(temporary / f"{name}.npy", array, allow_pickle=False)

    @classmethod
    def load(cls, folder: Path | str) -> "Candidates":
        """Open the table memory-mapped; `DataError` if an array is missing or too short."""
        arrays = {}
        for name in cls.__dataclass_fields__:
            path = Path(folder) / f"{name}.npy"
            if not path.exists() and name in ("relevant", "uniform"):
                continue
            arrays[name] = read_array(path, "f" if name == "probability" else "iu")
        table = cls(**arrays)
        table._check(folder)
        return table

    def _check(self, folder: Path | str) -> None:
        """Check that the arrays fit each other."""
        rows, labelled = (
            int(offsets[-1]) if len(offsets) == len(self) + 1 else -1
            for offsets in (self.offsets, self.positive_offsets)
        )
        needed = dict.fromkeys(("documents", "ranks", "probability", "relevant"), rows)
        for name, count in {**needed, "positives": labelled, "uniform": len(self)}.items():
            array = getattr(self, name)
            if array is not None and len(array) != count:
                told = "other offsets" if count < 0 else count
                raise DataError(
                    f"{folder}/{name}.npy: holds {len(array)} numbers, need {told}; the table is "
                    f"damaged, delete {folder} and make it again."
                )


class Writer:
    """Writes a table part by part, so that memory holds one part alone."""

    def __init__(self, folder: Path) -> None:
        """Begin in an empty folder, which `atomic_folder` gives."""
        self.folder = folder
        self.kinds: dict[str, np.dtype[Any]] = {}
        self.counts: dict[str, int] = {}
        self.ends = {"offsets": 0, "positive_offsets": 0}

    def append(self, part: Candidates) -> None:
        """Add the queries of a part after those that are there."""
        for name, array in vars(part).items():
            if array is None:
                continue
            if name in self.ends:
                first = not self.counts.get(name)
                array = array + self.ends[name]
                self.ends[name] = int(array[-1])
                array = array if first else array[1:]
            self.kinds[name] = array.dtype
            self.counts[name] = self.counts.get(name, 0) + len(array)
            with (self.folder / f"{name}.raw").open("ab") as file:
                file.write(np.ascontiguousarray(array).tobytes())

    def close(self) -> None:
        """Give each array its header and its name."""
        for name, count in self.counts.items():
            raw = self.folder / f"{name}.raw"
            finish_array(raw, self.folder / f"{name}.npy", self.kinds[name], count)
