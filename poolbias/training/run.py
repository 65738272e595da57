"""A training as a job: its files in, the trained models and their records out."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from poolbias import lease, models
from poolbias.candidates import Candidates
from poolbias.device import prepare
from poolbias.files import files_within
from poolbias.formats.tsv import write_table
from poolbias.parameters import Parameters
from poolbias.stage import Job, progress
from poolbias.tokens import TokenStore
from poolbias.training import finished
from poolbias.training.checkpoint import Checkpoints
from poolbias.training.loop import Trainer
from poolbias.training.processes import Share, device_of, together

SOURCES = ("tokens", "candidates", "first_stage")


def train(job: Job, names: tuple[str, ...]) -> None:
    """Train the models `names` ("R", or "R" and "S") and write them with `training.tsv`.

    Inputs of the job: `tokens`, `candidates`, and `first_stage`, the model of a trained ranker
    whose encoder these start from, if any. Outputs: `training` and `timing` (per step), one
    `model.safetensors` per name (option `r`, `s`), whose folder is the model's, and `snapshots`:
    `.../step-<n>/<name>/model.safetensors` for each model and step to keep. Where another job does
    the same training, this one waits, and takes what the other made. With the parameter `processes`
    this job starts so many less one beside it (see `processes`); it alone writes.
    """
    with lease.hold(finished.folder_of(job), "training") as held:
        if not finished.take(job):
            _train(job, names, held)
            finished.keep(job)


def _train(job: Job, names: tuple[str, ...], held: lease.Lease) -> None:
    parameters = job.parameters
    kind = models.ranker(parameters["ranker"]["kind"])
    processes = parameters.get("processes", 1)
    sources = {name: job.path(name) for name in SOURCES if name in job.files}
    trainer = _trainer(Share(0, processes), parameters, sources, names)
    snapshots = job.files.get("snapshots", [])
    steps = parameters["training"]["steps"]
    checkpoints = Checkpoints(job.unfinished(), job.checkpoint_minutes)
    checkpoints.resume(trainer, snapshots)
    given = (parameters, sources, names, job.unfinished())
    others = together(processes, parameters["device"], _follow, *given)
    with checkpoints.on_signals(), others:
        for row, time in progress(trainer.steps(), steps - trainer.done, "training", "steps"):
            for path in snapshots:
                if path.parts[-3] == f"step-{trainer.done}":
                    kind.save(trainer.models[path.parts[-2]], path.parent)
                    checkpoints.keep_snapshot(path)
            checkpoints.after_step(trainer, row, time)
    held.check()
    for name in names:
        kind.save(trainer.models[name], _folder(job, name))
        job.also_made(*files_within(_folder(job, name)))
    training = pd.DataFrame(checkpoints.rows)
    write_table(job.path("training"), training)
    write_table(job.path("timing"), pd.DataFrame(checkpoints.times))
    seconds = float(np.sum([time["seconds"] for time in checkpoints.times]))
    job.report(
        steps=steps,
        loss_at_end=float(training["loss_r"].tail(max(steps // 10, 1)).mean()),
        pairs_per_second=steps * parameters["training"]["pairs"] / seconds,
        weight_warnings=trainer.watch.warnings,
    )


def _trainer(
    share: Share, parameters: dict[str, Any], sources: dict[str, Path], names: tuple[str, ...]
) -> Trainer:
    """Return the training of one process, at its start."""
    prepare(parameters["device"], parameters["threads"])
    device = device_of(parameters["device"], share)
    kind = models.ranker(parameters["ranker"]["kind"])
    seed = parameters["seed"]
    start = parameters["ranker"]
    if "first_stage" in sources:
        start = Parameters({**start, "trained": sources["first_stage"].parent}, "ranker.")
    return Trainer(
        parameters=parameters,
        store=TokenStore(sources["tokens"]),
        candidates=Candidates.load(sources["candidates"]),
        models={name: kind.start(start, head_seed(seed, name)).to(device) for name in names},
        scorer=kind.scores,
        seed=seed,
        share=share,
    )


def _follow(
    share: Share,
    parameters: dict[str, Any],
    sources: dict[str, Path],
    names: tuple[str, ...],
    unfinished: Path | None,
) -> None:
    """Train as one of the processes that write nothing, from where the first goes on."""
    trainer = _trainer(share, parameters, sources, names)
    Checkpoints(unfinished, math.inf).resume(trainer, [])
    for _ in trainer.steps():
        pass


def head_seed(seed: int, name: str) -> int:
    """Return the seed of the random head of model `name`: R and S start from different heads."""
    return int(np.random.SeedSequence([seed, 0, ord(name)]).generate_state(1, np.uint64)[0] >> 1)


def _folder(job: Job, name: str) -> Path:
    return job.path(name.lower()).parent
