"""Likelier the nearer to the labelled document's score: SimANS (Zhou et al. 2022, 2210.11773)."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray


def weights(frame: pd.DataFrame, parameters: dict[str, Any]) -> NDArray[np.float64]:
    """Return exp(−a (score − positive score − b)²) per query up to a constant.

    The constant makes a query's largest weight 1, so that no query is lost to underflow; a
    candidate far below the largest (by more than about 745 in the exponent) becomes 0.

    Args:
        frame: columns query_row, score and positive_score.
        parameters: `a` ≥ 0 and `b`.

    Returns:
        float64 [candidates].
    """
    distance = frame["score"] - frame["positive_score"] - parameters["b"]
    exponent = -parameters["a"] * distance.astype("float64") ** 2
    largest = exponent.groupby(frame["query_row"]).transform("max")
    return np.asarray(np.exp((exponent - largest).to_numpy(np.float64)))
