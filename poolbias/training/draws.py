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
    """Rows of queries and their labelled documents, int64 [pairs], and of negatives.

    `negatives` is int64 [pairs, negatives]; `false_negative` is bool of the same shape by the
    truth, or None where it is not known.
    """

    queries: Rows
    positives: Rows
    negatives: Rows
    false_negative: NDArray[np.bool_] | None


def uniforms(seed: int, step: int, slots: int, streams: int, block: int = 0) -> NDArray[np.float64]:
    """Return numbers in [0, 1) keyed by all arguments but `slots`, float64 [slots, streams].

    The counter-based generator Philox (Salmon et al. 2011) of NumPy, with the seed as its key, step
    and block in its counter; slot and stream are places in that block's sequence, so a batch of
    more slots begins with the same numbers.
    """
    generator = np.random.Generator(np.random.Philox(key=seed, counter=[0, 0, step, block]))
    return generator.random((slots, streams))


class Drawer:
    """Draws triples: a labelled (query, document) pair uniformly, then negatives of that query.

    Uniform over pairs follows the sum of Eq. 15 (Cai et al. 2022) over 𝒟⁺; the pairs are drawn with
    replacement, which is our choice (the authors' code reads a file of triples in its order).

    Several negatives of a pair are drawn one after the other, without those drawn already (as the
    code of RANCE does, purble/RANCE). A query with fewer candidates gives all of them and
    then begins again: our choice. Pairs and first negatives are the same however many negatives are
    drawn, and fewer are the first ones of more.
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

    def draw(self, step: int, pairs: int, negatives: int = 1) -> Triples:
        """Return the triples of one step: so many pairs, so many negatives for each.

        Shapes are those of `Triples`.
        """
        pair_at, negative_at = uniforms(self.seed, step, pairs, 2).T
        pair = (pair_at * len(self.query_of_pair)).astype(np.int64)
        query = self.query_of_pair[pair]
        more = [uniforms(self.seed, step, pairs, 1, n) for n in range(1, negatives)]
        chosen = self._choose(query, np.concatenate([negative_at[:, None], *more], axis=1))
        relevant = self.candidates.relevant
        return Triples(
            queries=self.candidates.query_rows[query].astype(np.int64),
            positives=self.candidates.positives[pair].astype(np.int64),
            negatives=self.candidates.documents[chosen].astype(np.int64),
            false_negative=None if relevant is None else relevant[chosen].astype(bool),
        )

    def _choose(self, query: Rows, at: NDArray[np.float64]) -> Rows:
        """Return rows of candidates per query, [pairs, negatives], by inverting its probability.

        Args:
            query: [pairs].
            at: where in the cumulative probability of what is left, [pairs, negatives].
        """
        start, end = self.offsets[query], self.offsets[query + 1]
        if at.shape[1] == 1 and self.candidates.uniform is not None:
            quick = self.candidates.uniform[query].astype(bool)
            if quick.all():  # one of so many: nothing of the table need be read
                return start[:, None] + (at * (end - start)[:, None]).astype(np.int64)
        column = np.arange(int((end - start).max()))[None, :]
        inside = column < (end - start)[:, None]
        source = np.where(inside, start[:, None] + column, start[:, None])
        whole = np.where(inside, self.candidates.probability[source], 0.0)
        left = whole.copy()
        chosen = np.empty(at.shape, dtype=np.int64)
        for number in range(at.shape[1]):
            used_up = ~left.any(axis=1)
            left[used_up] = whole[used_up]
            cumulative = np.cumsum(left, axis=1, dtype=np.float64)
            passed = cumulative <= (at[:, number] * cumulative[:, -1])[:, None]
            column_of = np.minimum(passed.sum(axis=1), end - start - 1)
            left[np.arange(len(left)), column_of] = 0.0
            chosen[:, number] = start + column_of
        return chosen
