"""Uniform over what annotators saw and did not label: what perfect propensities would leave.

A document that was certainly selected and is not labelled is irrelevant (Cai et al. 2022, Eq. 5),
provided that annotators label every relevant document that they see. Our construction.
"""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from poolbias.errors import DataError


def weights(frame: pd.DataFrame, parameters: dict[str, Any]) -> NDArray[np.float64]:
    """Return 1 for a candidate that was in the pool, 0 else: float64 [candidates].

    Args:
        frame: columns query_id, document_row, selected and, where the truth is known, relevant.
        parameters: not read.

    Raises:
        DataError: naming a candidate that was in the pool, is relevant and has no label.
    """
    selected = frame["selected"].to_numpy(bool)
    if "relevant" in frame:
        wrong = selected & frame["relevant"].to_numpy(bool)
        if wrong.any():
            row = frame.iloc[int(wrong.argmax())]
            raise DataError(
                f"negatives 'ideal_propensity': document row {row['document_row']} of query "
                f"{row['query_id']} was in the pool, is relevant and has no label, so that being "
                "in the pool tells nothing; use a pool with labels_per_query: null."
            )
    return selected.astype(np.float64)
