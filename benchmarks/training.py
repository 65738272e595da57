"""Training: against sentence-transformers, against the plain coupled loop, and its own ceiling."""

from typing import Any

import numpy as np
import torch

from benchmarks.ceiling import encoder_flops, flops_per_second
from benchmarks.plain_loop import PlainCoupled
from benchmarks.texts import LIMITS, START, texts
from benchmarks.timing import Ratio, per_second, ratio, rounds
from poolbias import models
from poolbias.training.loop import Trainer

PAIRS, LAYERS = 32, 6
SETTINGS = {
    "steps": 10**6, "pairs": PAIRS, "learning_rate": 1e-5, "betas": [0.9, 0.999],
    "epsilon": 1e-8, "weight_decay": 0.01, "warm_up": 0.1, "clip": 1.0,
}  # fmt: skip
COUPLED = {"name": "coupled", "form": "paper", "temperature": 1.0}


class OurTraining:
    """The study's own loop, advanced a few steps at a time."""

    def __init__(self, weight: dict[str, Any], names: str, layers: int = LAYERS) -> None:
        kind = models.ranker("bert")
        ranker = {
            "start": START, "layers": layers, "dropout": 0.1, "head_dropout": 0.2,
            "engine": "packed", "attention": "eager",
        }  # fmt: skip
        limits = {"query": LIMITS.query, "document": LIMITS.document, "sequence": None}
        parameters = {
            "training": SETTINGS, "loss": "pairwise_cross_entropy", "weight": weight,
            "limits": limits, "precision": "bf16",
        }  # fmt: skip
        trainer = Trainer(
            parameters=parameters,
            store=texts().store,
            candidates=texts().candidates,
            models={name: kind.start(ranker, seed) for seed, name in enumerate(names)},
            scorer=kind.scores,
            seed=1,
        )
        self.steps = trainer.steps()
        self.tokens: list[float] = []

    def run(self, steps: int) -> None:
        """Take some steps."""
        for _ in range(steps):
            _, times = next(self.steps)
            self.tokens.append(times["tokens"])


def against_peers(repeats: int, steps: int = 3) -> list[Ratio]:
    """Return pairs per second against sentence-transformers, and the share of the ceiling."""
    from benchmarks.peers import PeerTraining

    ours = OurTraining({"name": "one"}, "R")
    works = {
        "ours": lambda: ours.run(steps),
        "defaults": lambda: PeerTraining.shared(half=False).run(steps),
        "best": lambda: PeerTraining.shared(half=True).run(steps),
    }
    times = rounds(works, repeats)
    pairs = PAIRS * steps
    notes = {name: f"{per_second(pairs, taken)} pairs" for name, taken in times.items()}
    operations = 3 * encoder_flops(LAYERS) * float(np.mean(ours.tokens)) * steps
    share = operations / float(np.median(times["ours"])) / flops_per_second(torch.bfloat16)
    return [
        ratio(
            f"training: ours / sentence-transformers {name}",
            times["ours"],
            times[name],
            target,
            f"{notes['ours']} against {notes[name]}",
        )
        for name, target in (("defaults", 5.0), ("best", 2.0))
    ] + [Ratio("training: share of the bf16 ceiling", share, share, share, 0.45, notes["ours"])]


def coupled(repeats: int, steps: int = 2) -> list[Ratio]:
    """Return the cost of a coupled step against a naive one and against the plain loop."""
    ours = {
        "naive": OurTraining({"name": "one"}, "R"),
        "train": OurTraining(COUPLED | {"weights_from": "train"}, "RS"),
        "eval": OurTraining(COUPLED | {"weights_from": "eval"}, "RS"),
    }
    plain = {half: PlainCoupled(texts(), LAYERS, half) for half in (False, True)}
    works = {name: lambda loop=loop: loop.run(steps) for name, loop in ours.items()}  # type: ignore[misc]
    for half, loop in plain.items():
        works["bf16" if half else "float32"] = lambda loop=loop: [  # type: ignore[misc]
            loop.step(PAIRS) for _ in range(steps)
        ]
    times = rounds(works, repeats)
    found = []
    for mode, most, targets in (("train", 2.1, (6.0, 2.2)), ("eval", 2.8, (4.5, 1.4))):
        found.append(
            ratio(
                f"coupled: naive step / step with weights_from {mode}",
                times[mode],
                times["naive"],
                1 / most,
                f"a coupled step costs {np.median(times[mode]) / np.median(times['naive']):.2f} "
                f"naive ones, {most} at most",
            )
        )
        for name, target in zip(("float32", "bf16"), targets, strict=True):
            title = f"coupled: weights_from {mode} / plain four passes in {name}"
            found.append(ratio(title, times[mode], times[name], target))
    return found
