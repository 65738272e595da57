"""The control of `oracle`: as many true negatives removed as it removes false ones, by rank.

Whatever `oracle` gains by having fewer candidates, or fewer at the ranks where false negatives
stand, this one gains too; what it lacks is their absence. Needs the truth. Our construction.
"""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from poolbias.errors import ConfigError
from poolbias.filtering.draws import generator_of, groups_of


def weights(frame: pd.DataFrame, parameters: dict[str, Any]) -> NDArray[np.float64]:
    """Return 0 for the true negatives that stand in for false ones, 1 else: float64 [candidates].

    Per query, for each false negative by rank the true negative nearest in rank that is not yet
    removed; of two equally near a keyed draw decides. Where there are fewer true negatives than
    false ones all of them go.

    Args:
        frame: columns query_id, rank and relevant.
        parameters: `seed`; the draws of a query are keyed by it and the query id.

    Raises:
        ConfigError: where the truth is not known.
    """
    if "relevant" not in frame:
        raise ConfigError(
            "negatives 'oracle_matched' need the collection's truth, and this one has none; "
            "choose other negatives."
        )
    rank, relevant = frame["rank"].to_numpy(np.int64), frame["relevant"].to_numpy(bool)
    kept = np.ones(len(frame))
    for query_id, rows in groups_of(frame):
        ordered = rows[np.argsort(rank[rows], kind="stable")]
        false, true = ordered[relevant[ordered]], ordered[~relevant[ordered]]
        generator = generator_of(parameters["seed"], "oracle_matched", query_id)
        for row in false[: len(true)]:
            upwards = bool(generator.integers(2))
            distance = np.abs(rank[true] - rank[row]).astype(np.float64)
            nearest = np.flatnonzero(distance == distance.min())
            place = nearest[0] if upwards else nearest[-1]
            kept[true[place]] = 0.0
            true = np.delete(true, place)
    return kept
