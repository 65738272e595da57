"""Uniform over what scores below the labelled document's score by a margin (NV-Retriever).

TopK-MarginPos of de Souza P. Moreira et al. 2024 (arXiv 2407.15831); a difference is right for
scores of any sign, and its size is in the unit of the score.
"""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray


def weights(frame: pd.DataFrame, parameters: dict[str, Any]) -> NDArray[np.float64]:
    """Return 1 for a candidate with score < positive score − margin, 0 else: float64 [candidates].

    Args:
        frame: columns score and positive_score.
        parameters: `margin`.
    """
    limit = frame["positive_score"].to_numpy(np.float64) - parameters["margin"]
    return np.asarray(frame["score"].to_numpy(np.float64) < limit, np.float64)
