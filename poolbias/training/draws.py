"""Keyed draws: what a step trains on depends on (seed, step, slot) alone.

Neither the number of workers nor what was drawn before matters.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from poolbias.candidates import Candidates
from poolbias.errors import TrainingError

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Triples:
    """Rows of queries, their labelled documents and the sampled negatives, int64 [pairs] each.

    `false_negative` is bool [pairs] by the truth, or None where it is not known.
    """

    queries: Rows
    positives: Rows
    negatives: Rows
    false_negative: NDArray[np.bool_] | None


def uniforms(seed: int, step: int, slots: int, streams: int) -> NDArray[np.float64]:
    """Return numbers in [0, 1) keyed by (seed, step, slot, stream), float64 [slots, streams].

    The counter-based generator Philox (Salmon et al. 2011) of NumPy, with the seed as its key and
    the step in its counter; slot and stream are places in that step's sequence, so a batch of more
    slots begins with the same numbers.
    """
    generator = np.random.Generator(np.random.Philox(key=seed, counter=[0, 0, step, 0]))
    return generator.random((slots, streams))


class Drawer:
    """Draws triples: a labelled (query, document) pair uniformly, then a negative of that query.

    Uniform over pairs follows the sum of Eq. 15 (Cai et al. 2022) over 𝒟⁺; the pairs are drawn with
    replacement, which is our choice (the authors' code reads a file of triples in its order).
    """

    def __init__(self, candidates: Candidates, seed: int) -> None:
        if len(candidates) == 0:
            raise TrainingError(
                "no query has both a labelled document and a candidate; "
                "use a larger depth, other negatives or a larger pool."
            )
        self.candidates = candidates
        self.seed = seed
        self.offsets = np.asarray(candidates.offsets)
        counts = np.diff(candidates.positive_offsets)
        self.query_of_pair = np.repeat(np.arange(len(candidates)), counts)

    def draw(self, step: int, pairs: int) -> Triples:
        """Return the triples of one step."""
        pair_at, negative_at = uniforms(self.seed, step, pairs, 2).T
        pair = (pair_at * len(self.query_of_pair)).astype(np.int64)
        query = self.query_of_pair[pair]
        chosen = self._choose(query, negative_at)
        relevant = self.candidates.relevant
        return Triples(
            queries=self.candidates.query_rows[query].astype(np.int64),
            positives=self.candidates.positives[pair].astype(np.int64),
            negatives=self.candidates.documents[chosen].astype(np.int64),
            false_negative=None if relevant is None else relevant[chosen].astype(bool),
        )

    def _choose(self, query: Rows, at: NDArray[np.float64]) -> Rows:
        """Return the row of one candidate per query by inverting its cumulative probability."""
        start, end = self.offsets[query], self.offsets[query + 1]
        column = np.arange(int((end - start).max()))[None, :]
        inside = column < (end - start)[:, None]
        source = np.where(inside, start[:, None] + column, start[:, None])
        probability = np.where(inside, self.candidates.probability[source], 0.0)
        cumulative = np.cumsum(probability, axis=1, dtype=np.float64)
        passed = cumulative <= (at * cumulative[:, -1])[:, None]
        chosen: Rows = start + np.minimum(passed.sum(axis=1), end - start - 1)
        return chosen
