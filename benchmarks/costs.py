"""What growth is measured of: one work per size, and what theory expects of it."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from transformers import BertConfig, BertForSequenceClassification

from benchmarks.ceiling import WIDTH, encoder_flops
from benchmarks.texts import LIMITS, candidates, load, tokenizer_file
from benchmarks.timing import Work
from benchmarks.training import NAIVE, RANKER, SETTINGS
from poolbias import models, tokens
from poolbias.evaluation import evaluate
from poolbias.models.pretrained import folder_of
from poolbias.retrieval.search import search
from poolbias.scoring import score
from poolbias.tokens import Sequences
from poolbias.training.draws import Drawer
from poolbias.training.loop import Trainer

LAYERS = 2  # of the rankers, where layers are not what grows
QUERY, SEQUENCES, PAIRS = 8, 16, 128


@dataclass(frozen=True)
class Cost:
    """One cost that grows.

    Attributes:
        what: is done.
        against: what grows.
        sizes: smallest to largest.
        work: returns the work of a size, given the folder of the texts.
        expected: the exponent, or the operations of each size, of which it is fitted.
    """

    what: str
    against: str
    sizes: list[int]
    work: Callable[[Path, int], Work]
    expected: float | Callable[[int], float]


def _ranker(layers: int) -> Any:
    """Return a ranker; one deeper than the published encoder has weights drawn at random."""
    if layers <= RANKER["layers"]:
        return models.ranker("bert").start(RANKER | {"layers": layers}, seed=1).eval()
    config = BertConfig.from_pretrained(folder_of(RANKER["start"]), num_labels=1)
    config.num_hidden_layers, config.poolbias_engine = layers, "packed"
    return BertForSequenceClassification(config).eval()


def _score(folder: Path, pairs: int, layers: int = LAYERS) -> Work:
    ranker, texts = _ranker(layers), load(folder)
    rows = texts.pairs(pairs)
    scores = models.ranker("bert").scores
    return lambda: score(ranker, scores, texts.store, *rows, LIMITS, "bf16")


def _score_pairs(folder: Path, pairs: int) -> Work:
    return _score(folder, pairs)


def _score_queries(folder: Path, queries: int) -> Work:
    return _score(folder, queries * 16)


def _score_candidates(folder: Path, each: int) -> Work:
    return _score(folder, 16 * each)


def _score_layers(folder: Path, layers: int) -> Work:
    return _score(folder, PAIRS, layers + 1)  # the last one computes first tokens only


def _score_length(_: Path, length: int) -> Work:
    """Score sequences of a query of 8 tokens and a document of `length`."""
    ranker, scores = _ranker(LAYERS), models.ranker("bert").scores
    tokens_each = QUERY + length + 3
    ids = np.random.default_rng(1).integers(1000, 30000, size=SEQUENCES * tokens_each)
    lengths = np.full(SEQUENCES, tokens_each)
    batch = Sequences(ids, np.zeros_like(ids), lengths, np.arange(SEQUENCES))

    def work() -> torch.Tensor:
        with torch.inference_mode():
            found: torch.Tensor = scores(ranker, batch, "bf16")
            return found

    return work


def length_flops(length: int) -> float:
    """Return the operations of a sequence: linear layers, and attention over itself."""
    tokens_each = QUERY + length + 3
    attention = 2 * 2 * (LAYERS - 1) * WIDTH * tokens_each  # scores and mixed values, per token
    return tokens_each * (encoder_flops(LAYERS) + attention)


def _trainer(folder: Path, pairs: int) -> Any:
    kind, texts = models.ranker("bert"), load(folder)
    parameters = {
        "training": SETTINGS | {"pairs": pairs}, "loss": "pairwise_cross_entropy", "weight": NAIVE,
        "limits": {"query": LIMITS.query, "document": LIMITS.document, "sequence": None},
        "precision": "bf16",
    }  # fmt: skip
    ranker = {"R": kind.start(RANKER | {"layers": LAYERS}, seed=1)}
    return Trainer(parameters, texts.store, texts.candidates, ranker, kind.scores, seed=1).steps()


def _train_pairs(folder: Path, pairs: int) -> Work:
    return partial(next, _trainer(folder, pairs))


def _train_steps(folder: Path, steps: int) -> Work:
    trainer = _trainer(folder, 8)
    return lambda: [next(trainer) for _ in range(steps)]


def _draw(queries: int, each: int) -> Work:
    drawer = Drawer(candidates(queries, 2**14, each), seed=1)
    return lambda: [drawer.draw(step, 32) for step in range(1, 17)]


def _draw_queries(_: Path, queries: int) -> Work:
    return _draw(queries, 100)


def _draw_candidates(_: Path, each: int) -> Work:
    return _draw(64, each)


def _evaluate(_: Path, queries: int) -> Work:
    asked = np.repeat([f"q{row}" for row in range(queries)], 100)
    found = [f"d{row}" for row in range(100)] * queries
    scores = np.random.default_rng(1).random(len(found)).astype(np.float32)
    run = pd.DataFrame({"query_id": asked, "document_id": found, "score": scores})
    truth = run.iloc[::10][["query_id", "document_id"]].assign(grade=1)
    return lambda: evaluate(run, truth, ["RR@10", "nDCG@10", "R@100"])


def _tokenise(folder: Path, count: int) -> Work:
    texts = load(folder)
    store = folder / "growth"
    return lambda: tokens.build(
        texts.documents[:count], texts.queries[:16], tokenizer_file(), store
    )


def _search(documents: int, queries: int) -> Work:
    drawn = np.random.default_rng(1).normal(size=(documents + queries, WIDTH)).astype(np.float32)
    return lambda: search(drawn[documents:], drawn[:documents], 100)


def _search_documents(_: Path, documents: int) -> Work:
    return _search(documents, 256)


def _search_queries(_: Path, queries: int) -> Work:
    return _search(2**13, queries)


def doubled(first: int, last: int, by: int = 2) -> list[int]:
    """Return the sizes from `first` to `last`, each `by` times the one before."""
    sizes = [first]
    while sizes[-1] < last:
        sizes.append(sizes[-1] * by)
    return sizes


SECONDS = [
    Cost("score 16 candidates each", "queries", doubled(2, 64), _score_queries, 1.0),
    Cost("score for 16 queries", "candidates", doubled(2, 64), _score_candidates, 1.0),
    Cost("score", "tokens of a document", doubled(16, 256), _score_length, length_flops),
    Cost("score 128 pairs", "layers below the last", doubled(1, 16), _score_layers, 1.0),
    Cost("train a step", "pairs", doubled(2, 64), _train_pairs, 1.0),
    Cost("draw", "queries", doubled(256, 16384, 4), _draw_queries, 0.0),
    Cost("draw", "candidates", doubled(64, 16384, 4), _draw_candidates, 1.0),
    Cost("search 256 queries", "documents", doubled(2048, 32768), _search_documents, 1.0),
    Cost("search 8192 documents", "queries", doubled(64, 1024), _search_queries, 1.0),
    Cost("evaluate", "queries", doubled(64, 1024), _evaluate, 1.0),
    Cost("tokenise", "documents", doubled(512, 8192), _tokenise, 1.0),
]
MEMORY = [
    Cost("score", "pairs", doubled(1024, 16384, 4), _score_pairs, 0.0),
    Cost("train", "steps", doubled(8, 128, 4), _train_steps, 0.0),
    Cost("search 8192 documents", "queries", doubled(512, 8192, 4), _search_queries, 0.0),
]
