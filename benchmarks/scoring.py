"""Scoring: against sentence-transformers' `predict`, and the share of the ceiling."""

import numpy as np
import torch

from benchmarks.ceiling import encoder_flops, flops_per_second
from benchmarks.texts import LIMITS, START, texts
from benchmarks.timing import Ratio, per_second, ratio, rounds
from poolbias import models
from poolbias.scoring import score

PAIRS, LAYERS = 1024, 6


def against_peers(repeats: int) -> list[Ratio]:
    """Return pairs per second against `CrossEncoder.predict`, and the share of the ceiling."""
    from benchmarks.peers import cross_encoder, predict

    kind = models.ranker("bert")
    ranker = kind.start(
        {
            "start": START, "layers": LAYERS, "dropout": 0.1, "head_dropout": 0.2,
            "engine": "packed", "attention": "eager",
        },
        seed=1,
    )  # fmt: skip
    rows = texts().pairs(PAIRS, seed=3)
    defaults = cross_encoder()
    best = cross_encoder(model_kwargs={"dtype": torch.bfloat16})
    works = {
        "ours": lambda: score(ranker, kind.scores, texts().store, *rows, LIMITS, "bf16"),
        "defaults": lambda: predict(defaults, *rows),
        "best": lambda: predict(best, *rows, batch_size=64),
    }
    times = rounds(works, repeats)
    tokens = float(sum(part.sum() for part in texts().store.lengths(*rows, LIMITS)) + 3 * PAIRS)
    rate = encoder_flops(LAYERS) * tokens / float(np.median(times["ours"]))
    share = rate / flops_per_second(torch.bfloat16)
    notes = {name: f"{per_second(PAIRS, taken)} pairs" for name, taken in times.items()}
    return [
        ratio(
            f"scoring: ours / sentence-transformers {name}",
            times["ours"],
            times[name],
            target,
            f"{notes['ours']} against {notes[name]}",
        )
        for name, target in (("defaults", 5.0), ("best", 1.5))
    ] + [Ratio("scoring: share of the bf16 ceiling", share, share, share, 0.5, notes["ours"])]
