"""What both models of a coupled training say of the probe's documents, and the weights from it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import torch

from poolbias.probe import paired_rows
from poolbias.teacher import score_pairs
from poolbias.weights.coupling import coupled

_SCORES = {"R": "r", "S": "s"}
_WEIGHTS = {"w_r": "s", "w_s": "r"}  # each weight is taken from the other model's scores


def add_scores(
    frame: pd.DataFrame,
    models: Mapping[str, Path],
    tokens: Path,
    parameters: dict[str, Any],
) -> pd.DataFrame:
    """Return the frame with the scores of both models, and the weights that they give each other.

    Args:
        frame: columns of `poolbias.probe.pairs`, and `query_row` and `document_row`.
        models: folders of R and S.
        tokens: the token store.
        parameters: `form` and `temperature` of the weight; `device`, `threads`, `precision` and
            `limits`, as for re-ranking.

    Returns:
        The frame with the columns `r`, `s`, `w_r` (Eq. 18) and `w_s` (Eq. 19), float32: each
        document as the negative, its query's paired document as the positive.
    """
    scored = frame.assign(
        **{
            column: score_pairs(models[name], tokens, frame, parameters).scores
            for name, column in _SCORES.items()
        }
    )
    paired = paired_rows(scored)
    for weight, column in _WEIGHTS.items():
        scores = scored[column].to_numpy(copy=True)
        positive, negative = torch.from_numpy(scores[paired]), torch.from_numpy(scores)
        found = coupled(positive, negative, parameters["temperature"], parameters["form"])
        scored[weight] = found.numpy()
    return scored
