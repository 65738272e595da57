"""Uniform over what scores below a share of the labelled document's score (NV-Retriever).

TopK-PercPos of de Souza P. Moreira et al. 2024 (arXiv 2407.15831). A share of a score means what is
meant only where that score is above 0: the inner products of normalised vectors, BM25. Ranker's
logits have any sign; `margin` is for them.
"""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from poolbias.errors import DataError


def weights(frame: pd.DataFrame, parameters: dict[str, Any]) -> NDArray[np.float64]:
    """Return 1 for a candidate with score < share · positive score, 0 else: float64 [candidates].

    Args:
        frame: columns query_id, score and positive_score.
        parameters: `share`, 0.95 in the paper.

    Raises:
        DataError: naming the first query whose labelled documents do not score above 0.
    """
    positive = frame["positive_score"].to_numpy(np.float64)
    wrong = ~(positive > 0)
    if wrong.any():
        row = frame.iloc[int(wrong.argmax())]
        raise DataError(
            f"negatives 'percpos': the labelled documents of query {row['query_id']} score "
            f"{row['positive_score']:.4g}, need above 0, since a share of another score is no "
            "threshold below it; use `margin`, which is right for scores of any sign."
        )
    below = frame["score"].to_numpy(np.float64) < parameters["share"] * positive
    return np.asarray(below, np.float64)
