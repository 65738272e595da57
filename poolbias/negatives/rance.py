"""Drawn by rank, from how likely a document at that rank is relevant: RANCE.

Prakash, Killingback and Zamani (SIGIR 2021); code purble/RANCE (drivers/run_ann_data_gen.py). How
Cai et al. (2022) turned P_relevant(r) into a distribution is unknown, so both readings are here.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from poolbias.errors import ConfigError, DataError

RULES = ("one_minus_p", "released")
DISCOUNT = 2  # gainK of the released code
WINDOW, DEGREE = 9, 4
LEAST = WINDOW + DEGREE  # ranks that leave the polynomial as many points as it has coefficients


def weights(frame: pd.DataFrame, parameters: dict[str, Any]) -> NDArray[np.float64]:
    """Return the weight of each candidate's rank, float64 [candidates].

    Args:
        frame: column rank.
        parameters: `rule`; `depth`, the number of ranks n; `rank_relevance`, P_relevant of ranks 1
            to n or more.

    Raises:
        ConfigError: for another rule, or too few ranks for the released one.
        DataError: if P_relevant is known for fewer ranks than `depth`.
    """
    relevance = np.asarray(parameters["rank_relevance"], np.float64)[: parameters["depth"]]
    if len(relevance) < parameters["depth"]:
        raise DataError(
            f"rank_relevance: found {len(relevance)} ranks, need {parameters['depth']}; estimate "
            "it from a run as deep as the candidates."
        )
    by_rank = distribution(relevance.tolist(), parameters["rule"])
    return np.asarray(by_rank[frame["rank"].to_numpy(np.int64) - 1])


def distribution(relevance: Sequence[float], rule: str) -> NDArray[np.float64]:
    """Return the weight of ranks 1 to n, float64 [n], not negative.

    - `one_minus_p`: 1 − P(r), neither smoothed nor clipped (the text's reading; our choice).
    - `released`: gain(r) = (1 − P(r)) / ln(r + 2) with r from 0; moving average over 9 ranks, 4 at
      each end dropped; a polynomial of degree 4 through them, its ends repeated 4 times; minus the
      least moving average. The code leaves what is then negative as it is; here it is 0.

    Args:
        relevance: P_relevant of ranks 1 to n.
        rule: one of these.

    Raises:
        ConfigError: for another rule, or fewer than 13 ranks for the released one.
    """
    p = np.asarray(relevance, np.float64)
    if rule == "one_minus_p":
        return 1 - p
    if rule != "released":
        raise ConfigError(f"rule is {rule!r}, need one of {', '.join(RULES)}; correct it.")
    if len(p) < LEAST:
        raise ConfigError(
            f"negatives 'rance': found a depth of {len(p)}, need at least {LEAST} for rule "
            "'released' (its moving average and polynomial); raise the depth."
        )
    gains = (1 - p) / np.log(np.arange(len(p)) + DISCOUNT)
    smooth = np.convolve(gains, np.full(WINDOW, 1 / WINDOW), mode="valid")
    fitted = np.polynomial.Polynomial.fit(np.arange(len(smooth)), smooth, DEGREE)
    curve = np.pad(fitted(np.arange(len(smooth))), WINDOW // 2, mode="edge")
    return np.asarray(np.maximum(curve - smooth.min(), 0.0))
