"""The texts of the embedded study, and pairs of them at their real lengths."""

import contextlib
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from poolbias import tokens
from poolbias.candidates import Candidates
from poolbias.collections.hpo import build
from poolbias.config.model import HpoCollection
from poolbias.files import read_json, write_json
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


@contextlib.contextmanager
def built() -> Iterator[Path]:
    """Yield a folder of the default collection's texts and tokens, removed after the block."""
    section = HpoCollection()
    collection = build(section.model_dump(exclude={"kind"}))
    documents, queries = list(collection.documents["text"]), list(collection.queries["text"])
    with tempfile.TemporaryDirectory(prefix="poolbias-benchmark-") as name:
        folder = Path(name)
        tokens.build(documents, queries, tokenizer_file(), folder / "tokens")
        write_json(folder / "texts.json", {"queries": queries, "documents": documents})
        yield folder


@cache
def load(folder: Path) -> Texts:
    """Return the texts of a folder that `built` made, with a table of random candidates."""
    found = read_json(folder / "texts.json")
    queries, documents = found["queries"], found["documents"]
    table = candidates(len(queries), len(documents), NEGATIVES)
    return Texts(queries, documents, TokenStore(folder / "tokens"), table)


def tokenizer_file() -> Path:
    """Return the tokenizer's file."""
    return folder_of(START) / "tokenizer.json"


def candidates(queries: int, documents: int, each: int) -> Candidates:
    """Return a table of `each` random candidates and one positive per query."""
    generator = np.random.default_rng(1)
    total = queries * each
    return Candidates(
        query_rows=np.arange(queries, dtype=np.int32),
        offsets=np.arange(0, total + 1, each),
        documents=generator.integers(documents, size=total).astype(np.int32),
        ranks=np.tile(np.arange(1, each + 1, dtype=np.int32), queries),
        probability=np.full(total, 1 / each, dtype=np.float32),
        positive_offsets=np.arange(queries + 1),
        positives=generator.integers(documents, size=queries).astype(np.int32),
        relevant=None,
    )
