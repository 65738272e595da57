"""The probe: documents of which both models of a coupled training are asked (paper, section 6.5).

For each query the top of a retriever's run, and one labelled document that each of them is paired
with, as in the paper's Figure 5: there the labelled document at rank 51, the first below the top.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from poolbias.errors import DataError
from poolbias.files import hash_of
from poolbias.formats.tsv import read_table
from poolbias.ranking import canonical

PAIR = ["query_id", "document_id"]
FACTS = ["relevant", "labelled", "pooled", "paired"]
SCORES = ["r", "s", "w_r", "w_s"]
COLUMNS = ["step", *PAIR, "rank", *FACTS, *SCORES]
# The paper's case has 45 relevant documents in the top 50: a tenth is left to tell them from.
LARGEST_SHARE = 0.9


def pairs(
    run: pd.DataFrame,
    truth: pd.DataFrame,
    labels: pd.DataFrame,
    pool: pd.DataFrame | None,
    depth: int,
    grade: int = 1,
) -> pd.DataFrame:
    """Return the documents to be scored: the top of the run, and each query's paired document.

    The paired document is, our choice where the paper's set-up does not arise, the labelled one
    - that stands first below the top `depth` (the paper's: at rank 51), or if there is none there
    - that stands last within it, or if the run holds no labelled document
    - whose id comes first.
    A query without a label has none and is left out. Within a query the choice scales every w_r of
    form `paper` by one factor and changes none of form `released`: their order stays.

    Args:
        run: columns `query_id`, `document_id`, `score`.
        truth: qrels (`query_id`, `document_id`, `grade`) of what is relevant.
        labels: qrels of what is labelled; grade 1 or more.
        pool: `query_id`, `document_id` of what annotators saw; None where it is not known.
        depth: how many documents of each query are looked at.
        grade: the lowest grade of `truth` that is relevant.

    Returns:
        A frame with `query_id`, `document_id` (str), `rank` (Int64, missing for a document that the
        run does not hold), `relevant`, `labelled`, `pooled`, `paired` (Int64, 0 or 1; `pooled` is
        missing where the pool is not known), sorted by query and rank. Rows of a rank above `depth`
        or without one are paired documents.

    Raises:
        DataError: as `canonical`.
    """
    ranked = canonical(run)[[*PAIR, "rank"]]
    labelled = labels.loc[labels["grade"] >= 1, PAIR].astype("str")
    labelled = labelled[labelled["query_id"].isin(set(ranked["query_id"]))]
    paired = _paired(labelled.merge(ranked, on=PAIR, how="left"), depth)
    top = ranked[(ranked["rank"] <= depth) & ranked["query_id"].isin(set(paired["query_id"]))]
    frame = pd.concat([top, paired]).drop_duplicates(PAIR).astype({"rank": "Int64"})
    frame["relevant"] = _within(frame, truth[truth["grade"] >= grade])
    frame["labelled"] = _within(frame, labelled)
    frame["pooled"] = pd.NA if pool is None else _within(frame, pool)
    frame["paired"] = _within(frame, paired)
    ordered = frame.sort_values(["query_id", "rank", "document_id"], ignore_index=True)
    return ordered.astype(dict.fromkeys(FACTS, "Int64"))


def counts(frame: pd.DataFrame, depth: int) -> dict[str, int]:
    """Return how many queries `frame` (of `pairs`) holds, and where their paired documents stand.

    Keys: `queries`, `paired_below` the top (the paper's set-up), `paired_within` it and
    `paired_outside` the run.
    """
    ranks = frame.loc[frame["paired"] == 1, "rank"]
    return {
        "queries": len(ranks),
        "paired_below": int((ranks > depth).sum()),
        "paired_within": int((ranks <= depth).sum()),
        "paired_outside": int(ranks.isna().sum()),
    }


def case(frame: pd.DataFrame, depth: int) -> str:
    """Return the id of the query that is shown where a study names none: our rule.

    The query with the most relevant documents in its top `depth`, of those of which at most nine
    tenths are relevant (the paper's case: 45 of 50) and whose paired document stands below the top,
    as the paper's does; ties go to the first id. Where no query fulfils both conditions the second,
    and then the first, is dropped.

    Args:
        frame: columns of `pairs`.
        depth: as in `pairs`.

    Raises:
        DataError: if the frame is empty.
    """
    if frame.empty:
        raise DataError(
            "probe: no query of the run has a labelled document, need one; "
            "use another split, or a pool that labels more."
        )
    queries = top(frame, depth).groupby("query_id")["relevant"].agg(["sum", "mean"])
    below = frame.loc[(frame["paired"] == 1) & (frame["rank"] > depth), "query_id"]
    queries = queries.assign(
        mixed=queries["mean"] <= LARGEST_SHARE, below=queries.index.isin(set(below))
    )
    keys = [queries["mixed"], queries["mixed"] & queries["below"], queries["sum"]]
    ordered = pd.concat(keys, axis=1, keys=["mixed", "both", "sum"]).reset_index()
    ordered = ordered.sort_values(
        ["both", "mixed", "sum", "query_id"], ascending=[False, False, False, True]
    )
    return str(ordered["query_id"].iloc[0])


def sample(query_ids: Sequence[str], size: int, shown: str, seed: int = 0) -> list[str]:
    """Return `size` queries, drawn by the hash of seed and id, and the one that is shown; sorted.

    Args:
        query_ids: ids to draw from; all of them are returned if they are no more than `size`.
        size: how many are drawn.
        shown: an id that is always there.
        seed: keys the draws.

    Raises:
        DataError: if `shown` is not among the ids.
    """
    ids = sorted(set(query_ids))
    if shown not in ids:
        raise DataError(
            f"figures.figure_5.query: found {shown!r}, need a query of the split that has a "
            f"labelled document and a hit in the run, such as {ids[0] if ids else 'none'}; "
            "name another, or none."
        )
    drawn = sorted(ids, key=lambda query: hash_of((seed, "probe", query), 32))[:size]
    return sorted({*drawn, shown})


def top(frame: pd.DataFrame, depth: int) -> pd.DataFrame:
    """Return the rows of `frame` (column `rank`) that stand at `depth` or above."""
    return frame[(frame["rank"] <= depth).fillna(False).astype(bool)]


def paired_rows(frame: pd.DataFrame) -> NDArray[np.int64]:
    """Return for each row of `frame` the position of its query's paired row, int64 [rows].

    Args:
        frame: columns `query_id` and `paired`; each query with one paired row.
    """
    positions = np.flatnonzero((frame["paired"] == 1).to_numpy(bool))
    by_query = pd.Series(positions, index=frame["query_id"].iloc[positions])
    return by_query.loc[frame["query_id"]].to_numpy(np.int64)


def read_probe(path: Path | str) -> pd.DataFrame:
    """Read what `probe_weights` wrote.

    Returns:
        A frame with `step` (int64) and the columns of `pairs`, and `r`, `s`, `w_r`, `w_s` (float64;
        weights may be infinite).

    Raises:
        DataError: naming file and column if a column is missing or holds something else.
    """
    frame = read_table(path, COLUMNS)[COLUMNS]
    for column in ["step", "rank", *FACTS, *SCORES]:
        try:
            numbers = pd.to_numeric(frame[column].where(frame[column] != ""))
            frame[column] = numbers.astype("float64" if column in SCORES else "Int64")
        except (ValueError, TypeError) as error:
            raise DataError(f"{path}: {column}: {error}; run the probe again.") from error
    return frame.astype({"step": "int64"})


def _paired(labelled: pd.DataFrame, depth: int) -> pd.DataFrame:
    """Return each query's paired document: below the top if one is, nearest to its edge."""
    rank = labelled["rank"]
    place = np.select([rank > depth, rank <= depth], [0, 1], default=2)
    near = (rank - depth).abs().fillna(0)
    ordered = labelled.assign(place=place, near=near).sort_values(
        ["query_id", "place", "near", "document_id"]
    )
    return ordered.groupby("query_id").head(1)[[*PAIR, "rank"]]


def _within(frame: pd.DataFrame, pairs: pd.DataFrame) -> NDArray[np.bool_]:
    known = pd.MultiIndex.from_frame(pairs[PAIR].astype("str"))
    return np.asarray(pd.MultiIndex.from_frame(frame[PAIR]).isin(known))
