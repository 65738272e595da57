"""A naive ranker as a teacher: its scores of the pairs that negatives are chosen among."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from poolbias import models
from poolbias.device import prepare
from poolbias.filtering.pair_scores import PairScores
from poolbias.scoring import score
from poolbias.tokens import Limits, TokenStore


def score_pairs(
    folder: Path | str,
    tokens: Path | str,
    pairs: pd.DataFrame,
    parameters: dict[str, Any],
    kept: Path | None = None,
) -> PairScores:
    """Return a trained ranker's score of each pair.

    Args:
        folder: of the ranker, as it was saved.
        tokens: the token store.
        pairs: columns query_row and document_row, sorted.
        parameters: `device`, `threads`, `precision` and `limits`, as for re-ranking.
        kept: folder of what is done, from which a job that was stopped goes on.
    """
    device = prepare(parameters["device"], parameters["threads"])
    kind = models.ranker(models.kind_of(Path(folder)))
    scores = score(
        kind.load(folder).to(device),
        kind.scores,
        TokenStore(tokens),
        pairs["query_row"].to_numpy(np.int64),
        pairs["document_row"].to_numpy(np.int64),
        Limits(**parameters["limits"]),
        parameters["precision"],
        kept=kept,
    )
    rows = pairs.to_dict("series")
    return PairScores(
        rows["query_row"].to_numpy(np.int32), rows["document_row"].to_numpy(np.int32), scores
    )
