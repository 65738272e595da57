"""Keyed draws of a query's candidates, and the rows of each query."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from poolbias.files import hash_of


def generator_of(seed: int, purpose: str, query_id: str) -> np.random.Generator:
    """Return a generator whose draws depend on nothing but seed, purpose and query id."""
    return np.random.Generator(
        np.random.Philox(key=int(hash_of([seed, purpose, query_id], 32), 16))
    )


def groups_of(frame: pd.DataFrame) -> Iterator[tuple[str, NDArray[np.int64]]]:
    """Yield each query's id and the places of its rows in `frame` (column query_id)."""
    for query_id, places in frame.groupby("query_id", sort=False).indices.items():
        yield str(query_id), np.asarray(places, dtype=np.int64)
