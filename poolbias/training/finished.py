"""What a training made, kept by links until a Snakemake has recorded it.

A Snakemake that was killed does not see its jobs finish; the next one submits them again, and
removes their results before they start. So a training that ends leaves links to what it made beside
its lease, and the next job of the same training takes these instead of training again. They take no
space as long as the results are there, and are forgotten when a run of Snakemake ends. A stage that
is run by hand, without a place for checkpoints, neither leaves nor takes any.
"""

import contextlib
import itertools
import logging
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from poolbias.errors import DataError, told
from poolbias.files import (
    atomic_folder,
    atomic_path,
    files_within,
    hash_of,
    read_json,
    write_json,
)
from poolbias.stage import Job

log = logging.getLogger("poolbias")

HIDDEN = ".lease"  # beside the results: Snakemake removes what a rule declares, and only that
KEPT = "finished"
RECORD = "record.json"


def folder_of(job: Job) -> Path:
    """Return the folder for a training's lease and kept results, beside its models."""
    return job.path("r").parents[1] / HIDDEN


def keep(job: Job) -> None:
    """Keep links to everything that the training wrote, and the figures that it reported."""
    if job.checkpoints is None:
        return
    files = _written(job)
    record = {
        "made_by": _made_by(job),
        "files": [str(file) for file in files],
        "beside": [str(file) for file in job.files.get("beside", [])],
        "figures": job.figures,
    }
    try:
        with atomic_folder(folder_of(job) / KEPT) as folder:
            for number, file in enumerate(files):
                _link(file, folder / str(number))
            write_json(folder / RECORD, record)
    except OSError as error:  # the results are written: this is only for the next job
        log.warning("no links to the results are kept: %s", told(error))


def take(job: Job) -> bool:
    """Return whether a job of the same training had finished; its results are then in place."""
    folder = folder_of(job) / KEPT
    if job.checkpoints is None:
        return False
    try:
        record = read_json(folder / RECORD)
    except DataError:  # none finished
        return False
    if record["made_by"] != _made_by(job):
        return False
    for number, name in enumerate(record["files"]):
        with atomic_path(name) as temporary:
            temporary.unlink()
            _link(folder / str(number), temporary)
            os.utime(temporary)  # made for this job: newer than its inputs
    job.also_made(*map(Path, record["beside"]))
    job.report(**record["figures"])
    log.info("a job of the same training had finished: its results are taken, nothing is trained")
    return True


def forget(results: Path, trainings: Iterable[tuple[str, int]]) -> None:
    """Forget the kept results of trainings (experiment's name, seed) that Snakemake recorded."""
    for name, seed in trainings:
        with contextlib.suppress(OSError):  # another user's: theirs to forget
            shutil.rmtree(results / "rankers" / name / f"seed-{seed}" / HIDDEN / KEPT)


def _made_by(job: Job) -> str:
    """Return the hash of what makes jobs the same training: parameters, code, inputs, places."""
    inputs = {str(file): digits for file, digits in job.hashes.items()}
    places = [str(file) for name in job.outputs for file in job.paths(name)]
    return hash_of([job.given, inputs, places], 16)


def _written(job: Job) -> list[Path]:
    """Return the files that the training wrote, all files of its models' folders included."""
    made = [file for name in job.outputs if name != "manifest" for file in job.paths(name)]
    folders = [files_within(file.parent) for file in made if file.suffix == ".safetensors"]
    return list(dict.fromkeys([*made, *itertools.chain(*folders)]))


def _link(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError:  # a file system without links, or with few
        shutil.copyfile(source, target)
