"""The passage sieve of Wang, Zhang and Nguyen (AAAI 2024, arXiv 2401.00165), for any score.

A candidate passes if it scores below the mean of a group: a labelled document and a sample of
candidates. In the authors' code (wangskyGit/passage-sieve) the group has up to 30 candidates and
the score is the retriever's cosine. Two things are our choice: the threshold is applied to every
candidate, also to those outside the sample (the code draws a new sample in each of its rounds and
drops the others), and of several labelled documents `positive_score` stands in the group.
"""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from poolbias.filtering.draws import generator_of, groups_of


def weights(frame: pd.DataFrame, parameters: dict[str, Any]) -> NDArray[np.float64]:
    """Return 1 for a candidate that passes, 0 else: float64 [candidates].

    A group of fewer candidates than `sample` repeats them in the order of the draw, as the authors'
    code does. Where none passes, one drawn at random is kept, likewise.

    Args:
        frame: columns query_id, score and positive_score, the rows of a query together.
        parameters: `sample` and `seed`; the draws of a query are keyed by seed and query id.
    """
    score = frame["score"].to_numpy(np.float64)
    positive = frame["positive_score"].to_numpy(np.float64)
    kept = np.zeros(len(frame))
    for query_id, rows in groups_of(frame):
        order = generator_of(parameters["seed"], "sieve", query_id).permutation(rows)
        group = np.resize(order, parameters["sample"])
        mean = (positive[rows[0]] + score[group].sum()) / (len(group) + 1)
        passing = rows[score[rows] < mean]
        kept[passing if len(passing) else order[-1:]] = 1.0
    return kept
