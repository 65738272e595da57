"""Tokens a second and share of peak on a GPU: `python -m benchmarks.gpu`, within 5 minutes.

BERT-base's size with random weights, bf16, torch's fused attention, compiled; the study's own loop
and scoring on made-up word pieces. Nothing is downloaded.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import BertConfig, BertForSequenceClassification

from poolbias import scoring
from poolbias.candidates import Candidates
from poolbias.device import prepare
from poolbias.errors import PoolbiasError
from poolbias.files import write_json
from poolbias.models import bert
from poolbias.tokens import Limits, TokenStore
from poolbias.training.loop import Trainer

BASE = {
    "vocab_size": 30522, "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12,
    "intermediate_size": 3072, "max_position_embeddings": 512,
}  # fmt: skip
TINY = {
    "vocab_size": 200, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2,
    "intermediate_size": 32, "max_position_embeddings": 300,
}  # fmt: skip
TRAINING = {
    "steps": 10**6, "pairs": 32, "learning_rate": 3e-6, "betas": [0.9, 0.999], "epsilon": 1e-8,
    "weight_decay": 0.01, "warm_up": 0.1, "clip": 1.0,
}  # fmt: skip
CET = {"name": "coupled", "form": "paper", "temperature": 1.0, "weights_from": "eval"}
LIMITS = Limits(query=32, document=256)  # the released code's
# Our assumption: lengths as of MS MARCO's passages, about; a query has some 7 word pieces.
MEAN, DEVIATION, SHORTEST = 75.0, 28.0, 16
QUERIES, DOCUMENTS, QUERY_TOKENS = 500, 20_000, 7
# Passes of one model, in forward passes: a backward pass is two. CET scores both models once more.
NAIVE_PASSES, CET_PASSES, SCORING_PASSES = 3, 8, 1


@dataclass(frozen=True)
class Rate:
    """What one work did.

    Attributes:
        tokens: a second, padding not counted.
        operations: floating point operations a second.
    """

    tokens: float
    operations: float


def main(given: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu", description=__doc__)
    parser.add_argument("--seconds", type=float, default=40, help="of each measurement (40)")
    parser.add_argument("--no-compile", action="store_true", help="run the encoder as it is")
    parser.add_argument("--tiny", action="store_true", help="on a CPU, tiny: shows that it runs")
    arguments = parser.parse_args(given)
    device = "cpu" if arguments.tiny else "cuda"
    try:
        prepare(device, threads=1)
    except PoolbiasError as error:
        print(f"benchmarks.gpu: {error}", file=sys.stderr)
        return 1
    sizes = TINY if arguments.tiny else BASE
    compiled = not (arguments.no_compile or arguments.tiny)
    print(f"{name_of(device)}, torch {torch.__version__}, bf16, compiled: {compiled}")
    peak = products_per_second(device, 64 if arguments.tiny else 8192)
    print(
        f"peak: {peak / 1e12:.3g} TFLOP/s, the largest product of matrices in bf16 that was tried"
    )
    with tempfile.TemporaryDirectory() as folder:
        store = made_up(Path(folder), sizes["vocab_size"])
        make = partial(ranker, sizes, device, compiled)
        works = {
            "naive": (trained(store, {"R": make()}, {"name": "one"}), NAIVE_PASSES),
            "cet": (trained(store, {"R": make(), "S": make()}, CET), CET_PASSES),
            "scoring": (scored(store, make()), SCORING_PASSES),
        }
        for name, (work, passes) in works.items():
            rate = rate_of(work, passes, sizes, arguments.seconds, device)
            share = rate.operations / peak
            print(f"{name}: {rate.tokens:,.0f} tokens/s, {share:.1%} of peak")
    return 0


def name_of(device: str) -> str:
    """Return what the device is called."""
    return torch.cuda.get_device_name() if device == "cuda" else "CPU (a test: means nothing)"


def products_per_second(device: str, size: int, tries: int = 10) -> float:
    """Return the best rate of a product of two square bf16 matrices, operations a second."""
    one, other = (torch.randn(size, size, device=device, dtype=torch.bfloat16) for _ in range(2))
    best = float("inf")
    for _ in range(tries):
        wait(device)
        start = time.perf_counter()
        one @ other
        wait(device)
        best = min(best, time.perf_counter() - start)
    return 2 * size**3 / best


def wait(device: str) -> None:
    """Wait for what was sent to a GPU."""
    if device == "cuda":
        torch.cuda.synchronize()


def ranker(sizes: dict[str, int], device: str, compiled: bool) -> Any:
    """Return an untrained ranker of transformers' own encoder with fused attention."""
    config = BertConfig(**sizes, num_labels=1, classifier_dropout=0.2)
    config.poolbias_engine = "plain"
    config._attn_implementation = "sdpa"
    made = BertForSequenceClassification(config).to(device)
    if compiled:
        made.bert.compile(dynamic=True)
    return made


def made_up(folder: Path, pieces: int) -> TokenStore:
    """Return a token store of random word pieces, written to a folder."""
    rng = np.random.default_rng(1)
    drawn = rng.normal(MEAN, DEVIATION, DOCUMENTS).astype(np.int64)
    lengths = {
        "queries": np.full(QUERIES, QUERY_TOKENS),
        "documents": np.clip(drawn, SHORTEST, LIMITS.document),
    }
    for name, each in lengths.items():
        ids = rng.integers(10, pieces, int(each.sum())).astype(np.uint16)
        np.save(folder / f"{name}.ids.npy", ids)
        np.save(folder / f"{name}.offsets.npy", np.concatenate([[0], np.cumsum(each)]))
    write_json(folder / "special.json", {"[CLS]": 1, "[SEP]": 2, "[PAD]": 0})
    return TokenStore(folder)


def trained(store: TokenStore, models: dict[str, Any], weight: dict[str, Any]) -> Iterator[int]:
    """Yield after each step of the study's loop how many tokens it had."""
    each = DOCUMENTS // QUERIES
    candidates = Candidates(
        query_rows=np.arange(QUERIES, dtype=np.int32),
        offsets=np.arange(QUERIES + 1) * each,
        documents=np.arange(DOCUMENTS, dtype=np.int32),
        ranks=np.tile(np.arange(1, each + 1, dtype=np.int32), QUERIES),
        probability=np.full(DOCUMENTS, 1 / each, dtype=np.float32),
        positive_offsets=np.arange(QUERIES + 1),
        positives=np.arange(QUERIES, dtype=np.int32) * each,
    )
    parameters = {
        "training": TRAINING, "loss": "pairwise_cross_entropy", "weight": weight,
        "limits": vars(LIMITS), "precision": "bf16",
    }  # fmt: skip
    trainer = Trainer(parameters, store, candidates, models, bert.scores, seed=1)
    return (int(times["tokens"]) for _, times in trainer.steps())


def scored(store: TokenStore, made: Any, pairs: int = 4096) -> Iterator[int]:
    """Yield after each call of the study's scoring how many tokens it had."""
    rng = np.random.default_rng(2)
    while True:
        rows = rng.integers(QUERIES, size=pairs), rng.integers(DOCUMENTS, size=pairs)
        scoring.score(made, bert.scores, store, *rows, LIMITS, "bf16", batch_tokens=2**16)
        yield sum(int(kept.sum()) for kept in store.lengths(*rows, LIMITS)) + 3 * pairs


def rate_of(
    work: Iterator[int], passes: int, sizes: dict[str, int], seconds: float, device: str,
    clock: Callable[[], float] = time.perf_counter,
) -> Rate:  # fmt: skip
    """Return how fast a work is, its first two calls (compilation) thrown away.

    Args:
        work: yields the number of tokens of each call.
        passes: how many forward passes a token is worth.
        sizes: of the encoder.
        seconds: after which no further call is made.
        device: `cuda` or `cpu`.
        clock: seconds.
    """
    for _ in range(2):
        next(work)
    wait(device)
    start, tokens = clock(), 0
    while True:
        tokens += next(work)
        wait(device)
        taken = clock() - start
        if taken >= seconds:
            break
    return Rate(tokens / taken, passes * tokens * operations(sizes) / taken)


def operations(sizes: dict[str, int]) -> float:
    """Return the operations of the linear layers for one token, forward only.

    A multiplication and an addition for each weight. Attention's own products, embeddings and
    normalisation are not counted, so a share of peak is not flattered.
    """
    width, wide = sizes["hidden_size"], sizes["intermediate_size"]
    return 2.0 * sizes["num_hidden_layers"] * (4 * width**2 + 2 * width * wide)


if __name__ == "__main__":
    sys.exit(main())
