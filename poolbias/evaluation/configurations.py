"""Which setting of each method is best on dev by labels: the choice that a study reports."""

import pandas as pd

from poolbias.errors import DataError

FAMILY = ["collection", "pool", "retriever", "ranker", "family"]
COLUMNS = [
    *FAMILY,
    *("name", "method", "changed", "experiment", "configurations", "seeds", "queries", "measure"),
    *("mean", "chosen"),
]


def choose(systems: pd.DataFrame, families: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Return all settings with their means by labels, and which of each family is chosen.

    The highest mean over queries decides, of each query over its seeds first; of equal ones the
    first of the file. Nothing else is looked at: no interval, no truth.

    Args:
        systems: columns of `poolbias.evaluation.per_query.read_systems`, of the queries that may
            decide.
        families: a row per setting in the order of the study file, columns `experiment`,
            `retriever`, `family`, and `changed`, what its training has of its own.
        measure: as ir-measures spells it.

    Returns:
        A row per setting with `COLUMNS`: `configurations` (int64) is how many its family has,
        `mean` float64, `chosen` `yes` or `no`.

    Raises:
        DataError: if a setting was not measured by labels in this measure.
    """
    own = systems[(systems["judgements"] == "labels") & (systems["measure"] == measure)]
    keys = ["experiment", "retriever", "method"]
    about = own.drop_duplicates(keys).set_index(["experiment", "retriever"])
    rows = []
    for setting in families.to_dict("records"):
        place = (setting["experiment"], setting["retriever"])
        values = own[(own["experiment"] == place[0]) & (own["retriever"] == place[1])]
        if values.empty:
            raise DataError(
                f"{setting['experiment']}: was not measured by labels in {measure}, which chooses "
                "settings; evaluate it with this measure."
            )
        told = about.loc[[place]].iloc[0]
        by_query = values.groupby("query_id", sort=True)["value"].mean()
        rows.append(
            {name: str(told[name]) for name in ("collection", "pool", "ranker", "name", "method")}
            | setting
            | {"seeds": values["seed"].nunique(), "queries": len(by_query), "measure": measure}
            | {"mean": float(by_query.mean())}
        )
    frame = pd.DataFrame(rows)
    groups = frame.groupby(FAMILY, sort=False)["mean"]
    frame["configurations"] = groups.transform("size").astype("int64")
    best = set(groups.idxmax())  # the first of equal ones
    frame["chosen"] = ["yes" if row in best else "no" for row in frame.index]
    return frame[COLUMNS]
