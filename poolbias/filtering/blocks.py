"""Candidates of a run of any length: some thousands of queries at a time.

A table of hundreds of millions of candidates is written part by part; what a method chooses by
scores over all queries is first cut to the scored candidates of each part.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from poolbias.candidates import Writer
from poolbias.files import atomic_folder
from poolbias.filtering.table import assemble
from poolbias.filtering.unlabelled import Unlabelled

QUERIES = 20_000  # of a run that are held in memory; our choice
Find = Callable[[pd.DataFrame, pd.DataFrame], Unlabelled]
Weigh = Callable[[pd.DataFrame], NDArray[np.float64]]


def find(blocks: Iterable[pd.DataFrame], labels: pd.DataFrame, one: Find) -> Iterator[Unlabelled]:
    """Yield what `one` makes of each block of a run and of the labels of its queries.

    Labels of queries that no block holds come with the last one, and a run of one block comes
    with all labels, as if it had been read whole.

    Args:
        blocks: parts of a run, column `query_id`.
        labels: qrels, column `query_id`.
        one: gets a block and its labels.
    """
    waiting = labels
    iterator = iter(blocks)
    held = list(islice(iterator, 1))
    for following in chain(iterator, [None]):
        block = held.pop()
        if following is None:
            yield one(block, waiting)
            return
        inside = waiting["query_id"].isin(set(block["query_id"]))
        yield one(block, waiting[inside])
        waiting = waiting[~inside]
        held.append(following)


def join(parts: Iterable[Unlabelled]) -> Unlabelled:
    """Return all parts as one; figures are added up."""
    found = list(parts)
    if len(found) == 1:
        return found[0]
    figures: dict[str, float] = {}
    for part in found:
        for name, value in part.figures.items():
            figures[name] = figures.get(name, 0) + value
    labels = pd.concat([part.labels for part in found])
    frame = pd.concat([part.frame for part in found])
    return Unlabelled(
        frame.sort_values(["query_row", "rank"], ignore_index=True),
        labels.sort_values(["query_row", "document_row"], ignore_index=True),
        figures,
    )


def write(
    parts: Iterable[Unlabelled], weigh: Weigh, folder: Path
) -> tuple[pd.DataFrame, dict[str, float]]:
    """Write the table of all parts, one after the other; return counts per query and figures.

    Args:
        parts: candidates and labels of different queries each.
        weigh: returns float64 [candidates] for a part's frame.
        folder: appears whole or not at all.
    """
    counts: list[pd.DataFrame] = []
    figures: dict[str, float] = {}
    with atomic_folder(folder) as temporary:
        writer = Writer(temporary)
        for part in parts:
            table, counted = assemble(part, weigh(part.frame))
            writer.append(table)
            counts.append(counted)
            for name, value in part.figures.items():
                figures[name] = figures.get(name, 0) + value
        writer.close()
    return pd.concat(counts, ignore_index=True), figures
