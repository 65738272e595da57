"""A training as a job: its files in, the trained models and their records out."""

from pathlib import Path

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


def train(job: Job, names: tuple[str, ...]) -> None:
    """Train the models `names` ("R", or "R" and "S") and write them with `training.tsv`.

    Inputs of the job: `tokens`, `candidates`, and `first_stage`, the model of a trained ranker
    whose encoder these start from, if any. Outputs: `training` and `timing` (per step), one
    `model.safetensors` per name (option `r`, `s`), whose folder is the model's, and `snapshots`:
    `.../step-<n>/<name>/model.safetensors` for each model and step to keep. Where another job does
    the same training, this one waits, and takes what the other made.
    """
    with lease.hold(finished.folder_of(job), "training") as held:
        if not finished.take(job):
            _train(job, names, held)
            finished.keep(job)


def _train(job: Job, names: tuple[str, ...], held: lease.Lease) -> None:
    parameters = job.parameters
    device = prepare(parameters["device"], parameters["threads"])
    kind = models.ranker(parameters["ranker"]["kind"])
    seed = parameters["seed"]
    start = parameters["ranker"]
    if "first_stage" in job.files:
        start = Parameters({**start, "trained": job.path("first_stage").parent}, "ranker.")
    trainer = Trainer(
        parameters=parameters,
        store=TokenStore(job.path("tokens")),
        candidates=Candidates.load(job.path("candidates")),
        models={name: kind.start(start, head_seed(seed, name)).to(device) for name in names},
        scorer=kind.scores,
        seed=seed,
    )
    snapshots = job.files.get("snapshots", [])
    steps = parameters["training"]["steps"]
    checkpoints = Checkpoints(job.unfinished(), job.checkpoint_minutes)
    checkpoints.resume(trainer, snapshots)
    with checkpoints.on_signals():
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


def head_seed(seed: int, name: str) -> int:
    """Return the seed of the random head of model `name`: R and S start from different heads."""
    return int(np.random.SeedSequence([seed, 0, ord(name)]).generate_state(1, np.uint64)[0] >> 1)


def _folder(job: Job, name: str) -> Path:
    return job.path(name.lower()).parent
