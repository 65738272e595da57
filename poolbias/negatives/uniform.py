"""Uniform over a run's top k without the labelled documents (Cai et al. 2022, §5.3)."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray


def weights(frame: pd.DataFrame, parameters: dict[str, Any]) -> NDArray[np.float64]:
    """Return 1 for every candidate, float64 [candidates]."""
    return np.ones(len(frame))
