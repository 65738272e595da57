"""Runs of retrievers that ran elsewhere: ids turned into ours, depth and coverage checked."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from poolbias.errors import DataError
from poolbias.formats import read_run
from poolbias.formats.ranked import columns_of, read_pairs, read_ranked
from poolbias.ranking import canonical
from poolbias.retrieval.runs import SPLITS

IdMap = Mapping[str, str]


def read_id_map(path: Path) -> IdMap:
    """Return what each foreign id stands for; the first column is theirs, the second ours."""
    return read_pairs(path)


def take_up(
    paths: Sequence[Path],
    queries: pd.DataFrame,
    documents: "pd.Series[str]",
    depth: int,
    coverage: float,
    query_map: IdMap | None = None,
    document_map: IdMap | None = None,
) -> tuple[pd.DataFrame, dict[str, int]]:
    """Return a run made elsewhere, with our ids, in canonical order, cut at a depth.

    A file of six columns is a TREC run, one of three MS MARCO's form. Queries of the run that the
    collection does not have are left out and counted.

    Args:
        paths: the files, which share no query.
        queries: columns `query_id` and `split`.
        documents: the collection's document ids.
        depth: documents of a query that are needed.
        coverage: least share of each split's queries that must be there.
        query_map: what the run's query ids stand for; None if they are ours.
        document_map: likewise for documents.

    Returns:
        The run with the columns `query_id`, `document_id`, `rank`, `score`, and counts:
        `other_queries`, `shallow` (queries with fewer documents than `depth`).

    Raises:
        DataError: for a file of another form, an id without its like, a list whose ranks go
            against its scores, lists that are all shorter than `depth`, or too few queries.
    """
    parts = [_mapped(_read(path), path, query_map, document_map) for path in paths]
    run = pd.concat(parts, ignore_index=True)
    known = run["query_id"].isin(queries["query_id"])
    others = int(run.loc[~known, "query_id"].nunique())
    where = ", ".join(map(str, paths))
    run = canonical(run[known])
    run = run[run["rank"] <= depth]
    strange = run.loc[~run["document_id"].isin(documents), "document_id"]
    if len(strange):
        raise DataError(
            f"{where}: document {strange.iloc[0]!r} is not in the collection (nor are "
            f"{strange.nunique() - 1} others); give the document_map of its ids, or the run of "
            "this collection."
        )
    _check_coverage(run, queries, coverage, where, others)
    lengths = run.groupby("query_id").size()
    if len(lengths) and lengths.max() < min(depth, len(documents)):
        raise DataError(
            f"{where}: the deepest list has {lengths.max()} documents, need {depth}; lower `depth` "
            "or take a deeper run."
        )
    return run, {"other_queries": others, "shallow": int((lengths < depth).sum())}


def _read(path: Path) -> pd.DataFrame:
    columns = columns_of(path)
    if columns == 6:
        run = read_run(path)
        _check_ranks(run, path)
        return run
    if columns == 3:
        return read_ranked(path)
    raise DataError(
        f"{path}:1: found {columns} columns, need 6 (a TREC run) or 3 (query, document, rank); "
        "turn it into one of these."
    )


def _check_ranks(run: pd.DataFrame, path: Path) -> None:
    """Refuse a run whose order by rank is not that by score: it is not what it was ranked by."""
    ordered = run.sort_values(["query_id", "rank"], kind="stable")
    same = ordered["query_id"].to_numpy()[1:] == ordered["query_id"].to_numpy()[:-1]
    rises = np.diff(ordered["score"].to_numpy()) > 0
    if (same & rises).any():
        row = ordered.iloc[int((same & rises).argmax()) + 1]
        raise DataError(
            f"{path}: query {row['query_id']}: the score rises at rank {row['rank']}, need scores "
            "that fall with the rank; the list is not ranked by its scores, make it again."
        )


def _mapped(
    run: pd.DataFrame, path: Path, query_map: IdMap | None, document_map: IdMap | None
) -> pd.DataFrame:
    for column, ids, key in (
        ("query_id", query_map, "query_map"),
        ("document_id", document_map, "document_map"),
    ):
        if ids is None:
            continue
        found = run[column].map(ids)
        if found.isna().any():
            lacking = run[column][found.isna()].iloc[0]
            raise DataError(
                f"{path}: {column} {lacking!r} is not in the first column of {key}; give the map "
                "of this run."
            )
        run = run.assign(**{column: found.astype("str")})
    return run


def _check_coverage(
    run: pd.DataFrame, queries: pd.DataFrame, coverage: float, where: str, others: int
) -> None:
    there = queries["query_id"].isin(run["query_id"])
    for split in SPLITS:
        some = there[queries["split"] == split]
        if len(some) and some.mean() < coverage:
            lacking = queries.loc[some.index[~some], "query_id"].iloc[0]
            raise DataError(
                f"{where}: holds {int(some.sum())} of the {len(some)} queries of split {split!r} "
                f"(not {lacking}; {others} of its queries are none of ours), need a share of "
                f"{coverage:g}; give the run of these queries or its query_map, or lower "
                "`coverage`."
            )
