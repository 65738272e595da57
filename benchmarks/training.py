"""Training: against sentence-transformers, against the plain coupled loop, and its own ceiling."""

from functools import partial
from pathlib import Path
from typing import Any

import torch

from benchmarks.ceiling import ceiling, encoder_flops
from benchmarks.plain_loop import PlainCoupled
from benchmarks.plain_loop import model as plain_model
from benchmarks.setting import Outcome, Setting
from benchmarks.texts import LIMITS, START, load
from benchmarks.timing import Ratio, Rounds, Work, of_rounds, ratio, rounds
from benchmarks.workers import Side, workers
from poolbias import models
from poolbias.training.loop import Trainer

PAIRS, LAYERS = 32, 6
SETTINGS = {
    "steps": 10**6, "pairs": PAIRS, "learning_rate": 1e-5, "betas": [0.9, 0.999],
    "epsilon": 1e-8, "weight_decay": 0.01, "warm_up": 0.1, "clip": 1.0,
}  # fmt: skip
RANKER: dict[str, Any] = {
    "start": START, "layers": LAYERS, "dropout": 0.1, "head_dropout": 0.2,
    "engine": "packed", "attention": "eager",
}  # fmt: skip
NAIVE: dict[str, Any] = {"name": "one"}
COUPLED: dict[str, Any] = {"name": "coupled", "form": "paper", "temperature": 1.0}


def ours(folder: Path, weight: dict[str, Any], names: str, steps: int) -> Work:
    """Return the study's own loop: each call takes so many steps and returns their tokens.

    Args:
        folder: of the texts.
        weight: the section `weight` of an experiment.
        names: a letter per model, `R` or `RS`.
        steps: of one call.
    """
    kind = models.ranker("bert")
    limits = {"query": LIMITS.query, "document": LIMITS.document, "sequence": None}
    trainer = Trainer(
        parameters={
            "training": SETTINGS, "loss": "pairwise_cross_entropy", "weight": weight,
            "limits": limits, "precision": "bf16",
        },
        store=load(folder).store,
        candidates=load(folder).candidates,
        models={name: kind.start(RANKER, seed) for seed, name in enumerate(names)},
        scorer=kind.scores,
        seed=1,
    )  # fmt: skip
    taken = trainer.steps()
    return lambda: sum(next(taken)[1]["tokens"] for _ in range(steps))


def plain(folder: Path, half: bool, steps: int) -> Work:
    """Return the plain coupled loop: each call takes so many steps."""
    loop = PlainCoupled(load(folder), [plain_model(LAYERS), plain_model(LAYERS)], SETTINGS, half)
    return lambda: [loop.step() for _ in range(steps)]


def peer(folder: Path, half: bool, steps: int) -> Work:
    """Return sentence-transformers' trainer: each call trains so many steps."""
    from benchmarks.peers import PeerTraining

    return partial(PeerTraining(load(folder), half).run, steps)


def training(setting: Setting) -> Outcome:
    """Measure pairs per second against sentence-transformers, and the share of the ceiling."""
    steps = setting.at_most(3)
    sides = {
        "ours": Side(partial(ours, setting.texts, NAIVE, "R", steps), ours=True),
        "defaults": Side(partial(peer, setting.texts, False, steps)),
        "best": Side(partial(peer, setting.texts, True, steps)),
        "ceiling": Side(partial(ceiling, torch.bfloat16), ours=True),
    }
    with workers(sides, setting.threads) as works:
        found = rounds(works, setting.repeats)
    rates = {
        name: found.rate(name, PAIRS * steps, "pairs") for name in ("ours", "defaults", "best")
    }
    return Outcome(
        [
            ratio(
                f"training: ours / sentence-transformers {name}",
                found.seconds["ours"],
                found.seconds[name],
                target,
                f"{rates['ours']} against {rates[name]}",
            )
            for name, target in (("defaults", 5.0), ("best", 2.0))
        ]
        + [share("training: share of the bf16 ceiling", found, 3 * encoder_flops(LAYERS), 0.45)]
    )


def share(name: str, found: Rounds, flops: float, target: float) -> Ratio:
    """Return which share of the ceiling's products `ours` makes of its real tokens.

    Args:
        name: of the ratio.
        found: rounds of `ours`, which returns tokens, and of `ceiling`, which returns a rate.
        flops: operations per token.
        target: see `Ratio`.
    """
    rounds_of = zip(
        found.seconds["ours"], found.results["ours"], found.results["ceiling"], strict=True
    )
    values = [flops * tokens / seconds / rate for seconds, tokens, rate in rounds_of]
    best = max(found.results["ceiling"]) / 1e9
    return of_rounds(name, values, target, f"of {best:.0f} GFLOP/s at best")


def coupled(setting: Setting) -> Outcome:
    """Measure a coupled step against a naive one and against the plain loop."""
    steps = setting.at_most(2)
    weights = {mode: COUPLED | {"weights_from": mode} for mode in ("train", "eval")}
    sides = {"naive": Side(partial(ours, setting.texts, NAIVE, "R", steps), ours=True)}
    for mode, weight in weights.items():
        sides[mode] = Side(partial(ours, setting.texts, weight, "RS", steps), ours=True)
    for name, half in (("float32", False), ("bf16", True)):
        sides[name] = Side(partial(plain, setting.texts, half, steps))
    with workers(sides, setting.threads) as works:
        found = rounds(works, setting.repeats)
    return Outcome(_of_mode(found, "train", 2.1, 6.0, 2.2) + _of_mode(found, "eval", 2.8, 4.5, 1.4))


def _of_mode(found: Rounds, mode: str, most: float, float32: float, bf16: float) -> list[Ratio]:
    """Return the ratios of one place that weights come from, with their targets."""
    times = found.seconds
    cost = found.median(mode) / found.median("naive")
    ratios = [
        ratio(
            f"coupled: naive step / step with weights_from {mode}",
            times[mode],
            times["naive"],
            1 / most,
            f"a coupled step costs {cost:.2f} naive ones, {most} at most",
        )
    ]
    for name, target in (("float32", float32), ("bf16", bf16)):
        title = f"coupled: weights_from {mode} / plain four passes in {name}"
        note = f"{found.median(mode):.2f} s against {found.median(name):.2f} s"
        ratios.append(ratio(title, times[mode], times[name], target, note))
    return ratios
