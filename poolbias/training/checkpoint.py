"""Checkpoints of a training: all that a later process needs to go on with the very next step.

Every draw and every mask of dropout is keyed by seed and step, so the weights, the optimisers'
averages and the records of the steps so far are all there is to keep. A checkpoint is a folder
`step-<n>` of `tensors.safetensors`, `state.json` and `SHA256SUMS`; it appears whole or not at all.
One that is damaged all the same is told of and passed over.
"""

import json
import logging
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from poolbias.errors import DataError, told
from poolbias.files import atomic_folder, sha256_of, write_text
from poolbias.training.loop import Learner, Trainer

log = logging.getLogger("poolbias")

KEPT = 2
SNAPSHOTS = "snapshots"
STATE, TENSORS, SUMS = "state.json", "tensors.safetensors", "SHA256SUMS"
Rows = list[dict[str, float]]
# What ends a job, and its exit code then; USR1 is a warning (Slurm's) that this is near.
ENDS = {signal.SIGTERM: 143, signal.SIGINT: 130}


class Checkpoints:
    """The checkpoints of one training.

    Attributes:
        folder: where they lie; None keeps none.
        minutes: time between two.
        rows, times: the rows of `training.tsv` and of `timing.tsv` so far.
    """

    def __init__(self, folder: Path | None, minutes: float) -> None:
        self.folder = folder
        self.minutes = minutes
        self.rows: Rows = []
        self.times: Rows = []
        self._last = time.monotonic()
        self._asked = False
        self._exit_code: int | None = None

    def resume(self, trainer: Trainer, snapshots: list[Path]) -> None:
        """Bring a trainer to the last whole checkpoint, if there is one, and its snapshots back.

        Args:
            trainer: at its start.
            snapshots: the model files that are to be kept at certain steps, `.../step-<n>/<name>/
                model.safetensors`.
        """
        for checkpoint in reversed(self._found()):
            try:
                state, tensors = _read(checkpoint)
                self._bring_back(snapshots, state)
            except (DataError, OSError) as error:
                log.warning("%s: passed over: %s", checkpoint, error)
                shutil.rmtree(checkpoint, ignore_errors=True)
                continue
            _restore(trainer, state, tensors)
            self.rows, self.times = (_rows(tensors, name) for name in ("rows", "times"))
            log.info("goes on after step %d, from %s", trainer.done, checkpoint)
            return

    def keep_snapshot(self, model: Path) -> None:
        """Keep a copy of a snapshot, since a job that is started anew loses its outputs."""
        if self.folder is None:
            return
        try:
            with atomic_folder(self._copy_of(model)) as copy:
                shutil.copytree(model.parent, copy, dirs_exist_ok=True)
        except (OSError, shutil.Error) as error:
            log.warning("%s: no copy is kept: %s", model.parent, error)

    def after_step(self, trainer: Trainer, row: dict[str, float], times: dict[str, float]) -> None:
        """Take in a step's rows; write a checkpoint if it is time; end if a signal said so."""
        self.rows.append(row)
        self.times.append(times)
        late = time.monotonic() - self._last >= self.minutes * 60
        if self.folder is not None and (late or self._asked or self._exit_code is not None):
            self._asked = False
            self._save(trainer)
            self._last = time.monotonic()
        if self._exit_code is not None:
            sys.exit(self._exit_code)

    @contextmanager
    def on_signals(self) -> Iterator[None]:
        """Let signals wait for the end of the step, so that a checkpoint is written before.

        SIGTERM and SIGINT end the process then, a second SIGINT (of an impatient user) at once.
        SIGUSR1 only asks for a checkpoint.
        """
        if self.folder is None:
            yield
            return
        before = {number: signal.signal(number, self._end) for number in ENDS}
        before[signal.SIGUSR1] = signal.signal(signal.SIGUSR1, self._ask)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _end(self, number: int, frame: FrameType | None) -> None:
        code = ENDS[signal.Signals(number)]
        if number == signal.SIGINT and self._exit_code == code:
            sys.exit(code)
        log.info("%s: ends after this step", signal.Signals(number).name)
        self._exit_code = code

    def _ask(self, number: int, frame: FrameType | None) -> None:
        self._asked = True

    def _found(self) -> list[Path]:
        if self.folder is None:
            return []
        return sorted(self.folder.glob("step-*"), key=lambda path: int(path.name[5:]))

    def _save(self, trainer: Trainer) -> None:
        """Write a checkpoint; one that finds no space is told of and the training goes on."""
        assert self.folder is not None
        path = self.folder / f"step-{trainer.done}"
        started = time.monotonic()
        tensors = _tensors(trainer) | _columns("rows", self.rows) | _columns("times", self.times)
        copies = sorted((self.folder / SNAPSHOTS).glob("step-*/[!.]*"))
        state = {
            "step": trainer.done,
            "learners": {one.name: one.adjustment.state() for one in trainer.learners},
            "watch": trainer.watch.state(),
            SNAPSHOTS: {f"{c.parent.name}/{c.name}": sha256_of(c) for c in copies},
        }
        try:
            with atomic_folder(path) as temporary:
                save_file(tensors, temporary / TENSORS)
                with write_text(temporary / STATE) as text:
                    json.dump(state, text)  # infinities and NaN too
                with write_text(temporary / SUMS) as text:
                    text.writelines(f"{sha256_of(temporary / n)}  {n}\n" for n in (TENSORS, STATE))
        except OSError as error:
            log.warning("no checkpoint after step %d: %s", trainer.done, told(error))
            return
        for old in self._found()[:-KEPT]:
            shutil.rmtree(old, ignore_errors=True)
        seconds = time.monotonic() - started
        log.info("checkpoint after step %d in %.1f s: %s", trainer.done, seconds, path)

    def _bring_back(self, snapshots: list[Path], state: dict[str, Any]) -> None:
        """Copy kept snapshots to where they are asked for; `DataError` if one is not there."""
        for model in snapshots:
            step, name = model.parts[-3:-1]
            if int(step.removeprefix("step-")) > state["step"]:
                continue
            copy = self._copy_of(model)
            if f"{step}/{name}" not in state[SNAPSHOTS] or not copy.is_dir():
                raise DataError(f"it lacks the snapshot {step}/{name}, which is now asked for.")
            if sha256_of(copy) != state[SNAPSHOTS][f"{step}/{name}"]:
                raise DataError(f"the snapshot {copy} is not what was written.")
            with atomic_folder(model.parent) as folder:
                shutil.copytree(copy, folder, dirs_exist_ok=True)

    def _copy_of(self, model: Path) -> Path:
        assert self.folder is not None
        return self.folder.joinpath(SNAPSHOTS, *model.parts[-3:-1])


def _read(checkpoint: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Return the state and the tensors of a checkpoint; `DataError` if either is damaged."""
    sums = (checkpoint / SUMS).read_bytes().split()
    for name in (TENSORS, STATE):
        if sha256_of(checkpoint / name).encode() not in sums:
            raise DataError(f"{name} is not what was written.")
    state: dict[str, Any] = json.loads((checkpoint / STATE).read_text(encoding="utf-8"))
    return state, load_file(checkpoint / TENSORS)


def _tensors(trainer: Trainer) -> dict[str, Tensor]:
    """Return weights and optimisers' averages, of any shapes, by `<model>/weights/<name>`, say."""
    found = {}
    for learner in trainer.learners:
        for name, value in learner.model.state_dict().items():
            found[f"{learner.name}/weights/{name}"] = value
        for number, averages in learner.optimiser.state_dict()["state"].items():
            for name, value in averages.items():
                found[f"{learner.name}/optimiser/{number}/{name}"] = torch.as_tensor(value)
    return {name: value.detach().cpu().contiguous() for name, value in found.items()}


def _restore(trainer: Trainer, state: dict[str, Any], tensors: dict[str, Tensor]) -> None:
    for learner in trainer.learners:
        learner.model.load_state_dict(_within(tensors, f"{learner.name}/weights/"))
        _restore_optimiser(learner, _within(tensors, f"{learner.name}/optimiser/"))
        learner.adjustment.restore(state["learners"][learner.name])
    trainer.watch.restore(state["watch"])
    trainer.done = state["step"]


def _restore_optimiser(learner: Learner, tensors: dict[str, Tensor]) -> None:
    averages: dict[int, dict[str, Tensor]] = {}
    for key, value in tensors.items():
        number, _, name = key.partition("/")
        averages.setdefault(int(number), {})[name] = value
    groups = learner.optimiser.state_dict()["param_groups"]
    learner.optimiser.load_state_dict({"state": averages, "param_groups": groups})


def _within(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {n.removeprefix(prefix): v for n, v in tensors.items() if n.startswith(prefix)}


def _columns(kind: str, rows: Rows) -> dict[str, Tensor]:
    """Return rows as int64 or float64 columns [rows], by `<kind>/<place>/<name>`."""
    names = list(rows[0]) if rows else []
    return {
        f"{kind}/{place:04d}/{name}": torch.from_numpy(np.array([row[name] for row in rows]))
        for place, name in enumerate(names)
    }


def _rows(tensors: dict[str, Tensor], kind: str) -> Rows:
    """Return the rows of what `_columns` returned."""
    columns = sorted(_within(tensors, f"{kind}/").items())
    names = [key.partition("/")[2] for key, _ in columns]
    values = zip(*(column.tolist() for _, column in columns), strict=True)
    return [dict(zip(names, row, strict=True)) for row in values]
