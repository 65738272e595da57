"""The candidates table: which documents may be drawn as negatives of a query, how likely.

A folder of memory-mapped arrays, one row per candidate, the rows of a query together by rank:
`offsets.npy` int64 [queries + 1], `documents.npy` int32 (row in the collection's documents),
`ranks.npy` int32 (retriever's rank, from 1), `probability.npy` float32 (sums to 1 per query),
`relevant.npy` uint8 (by the truth; absent where it is not known), `positives.npy` int32 and
`positive_offsets.npy` int64 (the labelled documents), `query_rows.npy` int32 (row in the
collection's queries). A query without a labelled document or without a candidate is not there.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from poolbias.errors import DataError
from poolbias.files import atomic_folder


@dataclass(frozen=True)
class Candidates:
    """The table in memory or memory-mapped; see the module's text for the arrays."""

    query_rows: NDArray[np.int32]
    offsets: NDArray[np.int64]
    documents: NDArray[np.int32]
    ranks: NDArray[np.int32]
    probability: NDArray[np.float32]
    positive_offsets: NDArray[np.int64]
    positives: NDArray[np.int32]
    relevant: NDArray[np.uint8] | None = None

    def __len__(self) -> int:
        return len(self.query_rows)

    def save(self, folder: Path | str) -> None:
        """Write the arrays; the folder appears whole or not at all."""
        with atomic_folder(folder) as temporary:
            for name, array in vars(self).items():
                if array is not None:
                    np.save(temporary / f"{name}.npy", array, allow_pickle=False)

    @classmethod
    def load(cls, folder: Path | str) -> "Candidates":
        """Open the table memory-mapped; `DataError` if an array is missing or too short."""
        arrays = {}
        for name in cls.__dataclass_fields__:
            path = Path(folder) / f"{name}.npy"
            if not path.exists() and name == "relevant":
                continue
            try:
                arrays[name] = np.load(path, mmap_mode="r", allow_pickle=False)
            except (OSError, ValueError, EOFError) as error:
                raise DataError(
                    f"{path}: cannot be read ({error}); delete {folder} and make it again."
                ) from error
        return cls(**arrays)


@dataclass(frozen=True)
class Pools:
    """Candidates before a method has its say: the unlabelled documents of a run's top `depth`.

    One row per candidate, sorted by query and rank.
    """

    frame: pd.DataFrame  # query_row, document_row, rank, score, relevant (bool, or absent)
    labels: pd.DataFrame  # query_row, document_row; sorted


def unlabelled(
    run: pd.DataFrame,
    labels: pd.DataFrame,
    truth: pd.DataFrame | None,
    query_rows: Mapping[str, int],
    document_rows: Mapping[str, int],
    depth: int,
) -> Pools:
    """Return the documents of each query's top `depth` that are not labelled (Cai et al. §5.3).

    Args:
        run: columns query_id, document_id, rank, score.
        labels: qrels; grade ≥ 1 is a labelled positive.
        truth: qrels, or None where it is not known; grade ≥ 1 is relevant.
        query_rows: row of each query id; a query of the run that is not there is left out.
        document_rows: row of each document id.
        depth: how many of the retriever's ranks are looked at, the labelled ones included.

    Raises:
        DataError: naming a document id of the run or labels that the collection does not hold.
    """
    frame = _rows(run[run["rank"] <= depth], query_rows, document_rows, "run")
    positives = _rows(labels[labels["grade"] >= 1], query_rows, document_rows, "labels")
    key = ["query_row", "document_row"]
    positives = positives[key].sort_values(key, ignore_index=True)
    frame = frame[~_within(frame, positives)].sort_values(["query_row", "rank"], ignore_index=True)
    if truth is not None:
        relevant = _rows(truth[truth["grade"] >= 1], query_rows, document_rows, "truth")
        frame["relevant"] = _within(frame, relevant)
    return Pools(frame, positives)


def assemble(pools: Pools, weights: NDArray[np.float64]) -> tuple[Candidates, dict[str, float]]:
    """Return the table in which each candidate's probability follows its weight.

    Args:
        pools: the unlabelled documents.
        weights: float64 [candidates], not negative, up to a constant per query; 0 is never drawn
            and leaves the table.

    Returns:
        The table, and what was kept and removed: candidates kept and removed, queries left without
        candidates (they are not trained on: our policy), and where the truth is known the share of
        false negatives before and after, and precision and recall at finding them.
    """
    frame = pools.frame.assign(weight=weights)
    kept = frame[frame["weight"] > 0]
    labelled = pools.labels["query_row"].unique()
    asked = frame[frame["query_row"].isin(labelled)]
    kept = kept[kept["query_row"].isin(labelled)]
    queries = np.sort(kept["query_row"].unique())
    labels = pools.labels[pools.labels["query_row"].isin(queries)]
    probability = kept["weight"] / kept.groupby("query_row")["weight"].transform("sum")
    table = Candidates(
        query_rows=queries.astype(np.int32),
        offsets=_offsets(kept["query_row"], queries),
        documents=kept["document_row"].to_numpy(np.int32),
        ranks=kept["rank"].to_numpy(np.int32),
        probability=probability.to_numpy(np.float32),
        positive_offsets=_offsets(labels["query_row"], queries),
        positives=labels["document_row"].to_numpy(np.int32),
        relevant=kept["relevant"].to_numpy(np.uint8) if "relevant" in kept else None,
    )
    figures = {
        "queries_labelled": len(labelled),
        "queries": len(queries),
        "queries_without_candidates": len(labelled) - len(queries),
        "candidates_kept": len(kept),
        "candidates_removed": len(asked) - len(kept),
    }
    return table, figures | _truth_figures(asked, probability, kept)


def _truth_figures(
    asked: pd.DataFrame, probability: "pd.Series[float]", kept: pd.DataFrame
) -> dict[str, float]:
    if "relevant" not in asked:
        return {}
    false, removed = int(asked["relevant"].sum()), len(asked) - len(kept)
    hit = false - int(kept["relevant"].sum())
    queries = max(kept["query_row"].nunique(), 1)
    return {
        "false_negative_share_before": false / max(len(asked), 1),
        "false_negative_share_after": float(kept["relevant"].mean()) if len(kept) else 0.0,
        "false_negative_draws": float((probability * kept["relevant"]).sum()) / queries,
        "removed_precision": hit / removed if removed else 0.0,
        "removed_recall": hit / false if false else 0.0,
    }


def _rows(
    frame: pd.DataFrame, query_rows: Mapping[str, int], document_rows: Mapping[str, int], what: str
) -> pd.DataFrame:
    frame = frame[frame["query_id"].isin(query_rows)]
    documents = frame["document_id"].map(document_rows)
    if documents.isna().any():
        row = frame.iloc[int(documents.isna().to_numpy().argmax())]
        raise DataError(
            f"{what}: document {row['document_id']!r} of query {row['query_id']} is not in the "
            "collection; use a file made from this collection."
        )
    return frame.assign(
        query_row=frame["query_id"].map(query_rows).astype(np.int64),
        document_row=documents.astype(np.int64),
    )


def _within(frame: pd.DataFrame, other: pd.DataFrame) -> NDArray[np.bool_]:
    keys = [f["query_row"].to_numpy() << 32 | f["document_row"].to_numpy() for f in (frame, other)]
    return np.isin(keys[0], keys[1])


def _offsets(query_rows: "pd.Series[int]", queries: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.append(np.searchsorted(query_rows, queries), len(query_rows)).astype(np.int64)
