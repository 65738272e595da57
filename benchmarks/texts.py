"""The texts of the embedded study, and pairs of them at their real lengths."""

import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from poolbias import tokens
from poolbias.candidates import Candidates
from poolbias.collections import build
from poolbias.config.model import HpoCollection
from poolbias.models.pretrained import folder_of
from poolbias.tokens import Limits, TokenStore

START = "all-MiniLM-L6-v2"
LIMITS = Limits(query=16, document=64)
LONGEST = LIMITS.query + LIMITS.document + 3
Rows = NDArray[np.int64]
NEGATIVES = 100  # per query, drawn from the documents at random: their lengths are the real ones


@dataclass(frozen=True)
class Texts:
    """Queries and documents as texts and as tokens, and a candidates table over them."""

    queries: list[str]
    documents: list[str]
    store: TokenStore
    candidates: Candidates

    def pairs(self, count: int, seed: int = 0) -> tuple[Rows, Rows]:
        """Return rows of queries and documents of random pairs, int64 [count] each."""
        generator = np.random.default_rng(seed)
        return (
            generator.integers(len(self.queries), size=count),
            generator.integers(len(self.documents), size=count),
        )


@cache
def texts() -> Texts:
    """Build the default collection, its token store and a table of random candidates."""
    section = HpoCollection()
    collection = build(section.kind, section.model_dump(exclude={"kind"}))
    documents, queries = list(collection.documents["text"]), list(collection.queries["text"])
    folder = Path(tempfile.mkdtemp(prefix="poolbias-benchmark-"))
    tokens.build(documents, queries, folder_of(START) / "tokenizer.json", folder / "tokens")
    table = _candidates(len(queries), len(documents))
    return Texts(queries, documents, TokenStore(folder / "tokens"), table)


def _candidates(queries: int, documents: int) -> Candidates:
    generator = np.random.default_rng(1)
    total = queries * NEGATIVES
    return Candidates(
        query_rows=np.arange(queries, dtype=np.int32),
        offsets=np.arange(0, total + 1, NEGATIVES),
        documents=generator.integers(documents, size=total).astype(np.int32),
        ranks=np.tile(np.arange(1, NEGATIVES + 1, dtype=np.int32), queries),
        probability=np.full(total, 1 / NEGATIVES, dtype=np.float32),
        positive_offsets=np.arange(queries + 1),
        positives=generator.integers(documents, size=queries).astype(np.int32),
        relevant=None,
    )
