"""Scoring: against sentence-transformers' `predict`, and the share of the ceiling."""

from functools import partial
from pathlib import Path

import torch

from benchmarks.ceiling import ceiling, encoder_flops
from benchmarks.setting import Outcome, Setting
from benchmarks.texts import LIMITS, load
from benchmarks.timing import Work, ratio, rounds
from benchmarks.training import LAYERS, RANKER, share
from benchmarks.workers import Side, workers
from poolbias import models
from poolbias.scoring import score

PAIRS = 1024


def ours(folder: Path, pairs: int) -> Work:
    """Return the study's own scoring of random pairs; each call returns their tokens."""
    kind, texts = models.ranker("bert"), load(folder)
    ranker = kind.start(RANKER, seed=1)
    rows = texts.pairs(pairs, seed=3)
    tokens = sum(part.sum() for part in texts.store.lengths(*rows, LIMITS)) + 3 * pairs

    def work() -> float:
        score(ranker, kind.scores, texts.store, *rows, LIMITS, "bf16")
        return float(tokens)

    return work


def peer(folder: Path, pairs: int, half: bool) -> Work:
    """Return `CrossEncoder.predict` of the same pairs: its defaults, or bf16 and batches of 64."""
    from benchmarks.peers import cross_encoder, predict

    texts = load(folder)
    rows = texts.pairs(pairs, seed=3)
    if half:
        ranker = cross_encoder(model_kwargs={"dtype": torch.bfloat16})
        return partial(predict, ranker, texts, *rows, batch_size=64)
    return partial(predict, cross_encoder(), texts, *rows)


def scoring(setting: Setting) -> Outcome:
    """Measure pairs per second against `predict`, and the share of the ceiling."""
    pairs = setting.at_most(PAIRS)
    sides = {
        "ours": Side(partial(ours, setting.texts, pairs), ours=True),
        "defaults": Side(partial(peer, setting.texts, pairs, False)),
        "best": Side(partial(peer, setting.texts, pairs, True)),
        "ceiling": Side(partial(ceiling, torch.bfloat16), ours=True),
    }
    with workers(sides, setting.threads) as works:
        found = rounds(works, setting.repeats)
    rates = {name: found.rate(name, pairs, "pairs") for name in ("ours", "defaults", "best")}
    ratios = [
        ratio(
            f"scoring: ours / sentence-transformers {name}",
            found.seconds["ours"],
            found.seconds[name],
            target,
            f"{rates['ours']} against {rates[name]}",
        )
        for name, target in (("defaults", 5.0), ("best", 1.5))
    ]
    flops = encoder_flops(LAYERS)
    return Outcome([*ratios, share("scoring: share of the bf16 ceiling", found, flops, 0.5)])
