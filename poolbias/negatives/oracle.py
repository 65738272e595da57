"""Uniform over the truly irrelevant: what a perfect filter would leave; needs the truth."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from poolbias.errors import ConfigError


def weights(frame: pd.DataFrame, parameters: dict[str, Any]) -> NDArray[np.float64]:
    """Return 1 for a candidate that the truth calls irrelevant, 0 else: float64 [candidates].

    Raises:
        ConfigError: where the truth is not known.
    """
    if "relevant" not in frame:
        raise ConfigError(
            "negatives 'oracle' need the collection's truth, and this one has none; "
            "choose other negatives."
        )
    return (~frame["relevant"].to_numpy(bool)).astype(np.float64)
