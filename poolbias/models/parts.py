"""Documents longer than the encoder, taken apart: sequences of parts, and where they lie.

Each part of a document goes through the encoder as a sequence of its own, with the query before it.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from poolbias.tokens import Ids, Sequences

# From the word pieces of a document and the number of a query's, the parts of the document.
Cut = Callable[[Ids, int], list[Ids]]


@dataclass(frozen=True)
class Parts:
    """The parts of a batch of pairs as sequences.

    Attributes:
        sequences: a sequence for each part, the longest first; `rows` numbers the parts.
        pairs: the pair of each part, int64 [parts], never falling: a pair's parts stand together,
            in the order of the document.
        starts: where each part's sequence starts among the tokens, int64 [parts].
        queries: how many word pieces of the query each pair has, int64 [pairs].
        sizes: how many word pieces of the document each part has, int64 [parts].
    """

    sequences: Sequences
    pairs: Ids
    starts: Ids
    queries: Ids
    sizes: Ids

    def grid(self, places: list[Ids]) -> tuple[Ids, Ids]:
        """Return lists of places, one per pair, as a rectangle, and where it is filled.

        Returns:
            int64 [pairs, longest] of places (0 where there is none) and 1 or 0 likewise.
        """
        filled = np.arange(max(map(len, places))) < np.array([len(p) for p in places])[:, None]
        table = np.zeros(filled.shape, dtype=np.int64)
        table[filled] = np.concatenate(places)
        return table, filled.astype(np.int64)

    def parts_of_pairs(self) -> list[Ids]:
        """Return the numbers of each pair's parts."""
        bounds = np.searchsorted(self.pairs, np.arange(1, len(self.queries)))
        return np.split(np.arange(len(self.pairs)), bounds)

    def query_places(self) -> list[Ids]:
        """Return the tokens of each pair's query, in its first part."""
        first = (self.starts[parts[0]] for parts in self.parts_of_pairs())
        return [
            start + 1 + np.arange(count) for start, count in zip(first, self.queries, strict=True)
        ]

    def document_places(self) -> list[Ids]:
        """Return the tokens of each pair's document, over all its parts."""
        return [
            np.concatenate(
                [self.starts[p] + 2 + self.queries[pair] + np.arange(self.sizes[p]) for p in parts]
            )
            for pair, parts in enumerate(self.parts_of_pairs())
        ]


def take_apart(sequences: Sequences, cut: Cut) -> Parts:
    """Return the parts of a batch's pairs, in the order of the pairs.

    Args:
        sequences: `[CLS] query [SEP] document [SEP]` of whole documents.
        cut: what makes parts of a document.
    """
    ends = np.cumsum(sequences.lengths)
    found: list[Ids] = []
    types: list[Ids] = []
    pairs, sizes, queries = [], [], []
    for pair, place in enumerate(np.argsort(sequences.rows, kind="stable")):
        one = slice(int(ends[place] - sequences.lengths[place]), int(ends[place]))
        ids = sequences.ids[one]
        head = int((sequences.types[one] == 0).sum())  # [CLS] query [SEP]
        queries.append(head - 2)
        for part in cut(ids[head:-1], head - 2):
            found.append(np.concatenate([ids[:head], part, ids[-1:]]))
            types.append(np.repeat([0, 1], [head, len(part) + 1]))
            pairs.append(pair)
            sizes.append(len(part))
    lengths = np.array([len(ids) for ids in found])
    order = np.argsort(-lengths, kind="stable")
    starts = np.empty_like(lengths)
    starts[order] = np.cumsum(lengths[order]) - lengths[order]
    made = Sequences(
        np.concatenate([found[part] for part in order]),
        np.concatenate([types[part] for part in order]),
        lengths[order],
        order,
        sequences.pad,
    )
    return Parts(made, np.array(pairs), starts, np.array(queries), np.array(sizes))
