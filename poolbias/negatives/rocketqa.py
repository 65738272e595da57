"""Uniform over what a naive teacher scores below η (RocketQA; Qu et al. 2021, Cai et al. §5.4).

The original η (0.1) lies on the scale of a classifier's probability. A pairwise loss leaves logits
free up to a constant per query, so the default scale compares with the query's labelled documents.
"""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from poolbias.errors import ConfigError

SCALES = ("pair", "probability", "logit")


def weights(frame: pd.DataFrame, parameters: dict[str, Any]) -> NDArray[np.float64]:
    """Return 1 for a candidate below η, 0 else: float64 [candidates]; at η it is removed.

    Args:
        frame: columns score (the teacher's logits) and positive_score.
        parameters: `scale`, and `eta` or `share_removed` (the other is None).
    """
    return (values(frame, parameters["scale"]) < threshold(frame, parameters)).astype(np.float64)


def figures(frame: pd.DataFrame, parameters: dict[str, Any]) -> dict[str, float]:
    """Return `eta`, the threshold that was used; columns as for `weights`."""
    return {"eta": threshold(frame, parameters)}


def values(frame: pd.DataFrame, scale: str) -> NDArray[np.float64]:
    """Return what is compared with η, float64 [candidates].

    - `pair`: σ(negative − positive), the teacher's probability that the candidate beats the
      labelled document (our choice);
    - `probability`: σ(logit), RocketQA's own scale for a ranker with one logit;
    - `logit`: the logit.

    Args:
        frame: columns score and positive_score.
        scale: one of these.

    Raises:
        ConfigError: for another scale.
    """
    score = frame["score"].to_numpy(np.float64)
    if scale == "logit":
        return score
    if scale == "pair":
        score = score - frame["positive_score"].to_numpy(np.float64)
    elif scale != "probability":
        raise ConfigError(f"scale is {scale!r}, need one of {', '.join(SCALES)}; correct it.")
    return 0.5 * (1 + np.tanh(score / 2))  # σ, without overflow


def threshold(frame: pd.DataFrame, parameters: dict[str, Any]) -> float:
    """Return η: as given, or the value from which on `share_removed` of the candidates lie.

    With a share, the lowest round((1 − share) · n) of the n candidates of all queries together are
    kept; of equal values at the threshold all are removed (our choice, for Figure 4).
    Columns as for `weights`.
    """
    if parameters["eta"] is not None:
        return float(parameters["eta"])
    ordered = np.sort(values(frame, parameters["scale"]))
    kept = round((1 - parameters["share_removed"]) * len(ordered))
    return float(ordered[kept]) if kept < len(ordered) else float("inf")
