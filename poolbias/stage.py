"""What every stage's script shares: its command line, its log, its records, its way to fail."""

import argparse
import logging
import os
import platform
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from tqdm import tqdm

from poolbias import fingerprint, records
from poolbias.errors import DataError, PoolbiasError, told
from poolbias.files import hash_of, read_json, sweep, write_json
from poolbias.logs import logging_to
from poolbias.machine import commit, cpu_name, path_here, versions
from poolbias.parameters import by_hand, parameters_of

log = logging.getLogger("poolbias")
T = TypeVar("T")

# What a value of the wrong kind makes of a computation.
_WRONG_VALUE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


@dataclass
class Job:
    """One run of a stage: its parameters, its files, and the figures that it reports at its end."""

    name: str
    parameters: dict[str, Any]
    files: dict[str, list[Path]]
    inputs: list[str]
    given: dict[str, Any]  # the parameters with `code`, the fingerprint of what runs
    outputs: list[str] = field(default_factory=list)
    checkpoints: Path | None = None  # where this job may keep what is not finished
    checkpoint_minutes: float = 10.0
    modules: dict[str, str] = field(default_factory=dict)  # what runs, see fingerprint.modules
    figures: dict[str, Any] = field(default_factory=dict)
    hashes: dict[Path, str] = field(default_factory=dict)  # of the inputs
    started: float = field(default_factory=time.monotonic)

    def path(self, name: str) -> Path:
        """Return the path of the input or output `name`."""
        return self.files[name][0]

    def paths(self, name: str) -> list[Path]:
        """Return the paths of an input or output that takes several."""
        return self.files[name]

    def report(self, **figures: Any) -> None:
        """Keep figures (counts, means) for the last line of the log and for the manifest."""
        self.figures.update(figures)

    def also_made(self, *files: Path) -> None:
        """Keep records of files beside the outputs too, such as those of a model's folder."""
        self.files.setdefault("beside", []).extend(files)

    def check(self, file: Path) -> None:
        """Check that an input is there and as its stage left it; `DataError` if not.

        The weights of a model stand for all files of its folder.
        """
        if not file.exists():
            raise DataError(f"{file}: no such input; make it first or correct the path.")
        if file in self.hashes:
            return
        if file.suffix == records.WEIGHTS:
            self.hashes |= records.check_model(file.parent)
        else:
            self.hashes[file] = records.check(file)

    def unfinished(self) -> Path | None:
        """Return the folder of what this job has done so far, named by all that makes its results.

        None where the job was not told where it may keep such things. The folder is removed when
        the job has finished.
        """
        if self.checkpoints is None:
            return None
        hashes = {name: [self.hashes[p] for p in self.files[name]] for name in self.inputs}
        code = fingerprint.fingerprint_of(self.modules)
        return self.checkpoints / f"{self.name}-{hash_of([self.parameters, code, hashes], 16)}"

    def write_manifest(self, path: Path) -> None:
        """Write what made this job's results: parameters, inputs, versions, hardware, time."""
        write_json(
            path,
            {
                "stage": self.name,
                "parameters": self.given,
                "parameters_hash": hash_of(self.given, 16),
                "device": self.parameters.get("device"),
                "threads": self.parameters.get("threads"),
                "inputs": {path_here(file): digits for file, digits in self.hashes.items()},
                "restored": {str(f): made for f in self.hashes if (made := records.restored(f))},
                "figures": self.figures,
                "versions": versions(),
                "commit": commit(),
                "hardware": f"{platform.machine()}, {cpu_name()}, {os.cpu_count()} cores",
                "wall_seconds": round(time.monotonic() - self.started, 1),
            },
        )

    def write_records(self) -> None:
        """Keep the hash of each output and what it was made from, see `records`."""
        made_by = {
            "stage": self.name,
            "parameters": self.given,
            "inputs": {records.name(file): digits for file, digits in self.hashes.items()},
            "modules": self.modules,
            "commit": commit(),
        }
        for file in self._made():
            if file.exists():
                records.write(file, made_by)

    def clear(self) -> None:
        """Remove the outputs' records, since they are made anew, and what killed jobs left."""
        for file in self._made():
            records.forget(file)
            sweep(file)
            sweep(file.parent)

    def _made(self) -> list[Path]:
        made = [file for name in [*self.outputs, "beside"] for file in self.files.get(name, [])]
        return [*made, *records.of_models(made)]


def run(
    main: Callable[[Job], None],
    description: str,
    inputs: Sequence[str],
    outputs: Sequence[str],
) -> None:
    """Run a stage from the command line and exit: 0 done, 1 a mistake told in one sentence.

    Each name of `inputs` and `outputs` is an option that takes a path; a name ending in `+` takes
    several, in `*` any number, in `?` one or none (`job.files` then lacks it). `--parameters` is
    the stage's JSON file, `--log` the file that also gets what is logged to standard error.
    `--device`, `--threads` and `--memory` win over the parameters of these names, for stages whose
    results they change by rounding at most. Stages that can go on where they were stopped keep what
    they need below `--checkpoints`. Every error of a user (`ConfigError` and its kin) ends here.
    """
    arguments = vars(_parser(description, inputs, outputs).parse_args())
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    signal.signal(signal.SIGINT, lambda *_: sys.exit(130))
    stage_name = Path(sys.argv[0]).stem
    given: Any = None
    with logging_to(arguments.pop("log")):
        try:
            given = read_json(arguments.pop("parameters"))
            job = _job(stage_name, given, arguments, inputs, outputs)
            log.info("%s starts, parameters %s", stage_name, hash_of(job.given, 16))
            log.debug("parameters: %s", job.given)
            log.debug("versions: %s", ", ".join(f"{n} {v}" for n, v in versions().items()))
            job.clear()
            main(job)
            _finish(job)
        except PoolbiasError as error:
            log.error("%s: %s", stage_name, error)
            sys.exit(1)
        except OSError as error:
            log.error("%s: %s", stage_name, told(error))
            sys.exit(1)
        except Exception as error:  # a fault of ours, unless parameters were written by hand
            if isinstance(given, dict) and by_hand(given) and isinstance(error, _WRONG_VALUE):
                log.debug("traceback", exc_info=True)
                log.error(
                    "%s: --parameters: were changed by hand, and a value of them cannot be used "
                    "(%s: %s); compare them with the JSON file beside the log of an earlier run.",
                    *(stage_name, type(error).__name__, error),
                )
            else:  # the log is where it is looked for
                log.exception("%s: unexpected error", stage_name)
            sys.exit(1)


def progress(items: Iterable[T], total: int, what: str, unit: str) -> Iterator[T]:
    """Yield `total` items under a progress bar on a terminal, or log a line every 30 seconds."""
    if sys.stderr.isatty():
        yield from tqdm(items, total=total, desc=what, unit=f" {unit}", dynamic_ncols=True)
        return
    start = last = time.monotonic()
    for done, item in enumerate(items):
        now = time.monotonic()
        if now - last >= 30 and done:
            last, rate = now, done / (now - start)
            left = (total - done) / rate
            log.info("%s: %d/%d, %.1f %s/s, %.0f s left", what, done, total, rate, unit, left)
        yield item


def _parser(
    description: str, inputs: Sequence[str], outputs: Sequence[str]
) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--parameters", type=Path, required=True, help="JSON file of parameters")
    parser.add_argument("--log", type=Path, help="log file")
    parser.add_argument("--device", help="cpu or cuda")
    parser.add_argument("--threads", type=int, help="threads")
    parser.add_argument("--memory", type=int, help="MB that a search may take for its arrays")
    parser.add_argument("--checkpoints", type=Path, help="folder of what is not finished")
    parser.add_argument("--checkpoint-minutes", type=float, help="minutes between checkpoints")
    for name in [*inputs, *outputs]:
        parser.add_argument(
            f"--{_bare(name).replace('_', '-')}",
            nargs={"+": "+", "*": "*"}.get(name[-1], 1),
            type=Path,
            required=name[-1] not in "?*",
            help="input" if name in inputs else "output",
        )
    return parser


def _job(
    name: str,
    given: Any,
    arguments: dict[str, Any],
    inputs: Sequence[str],
    outputs: Sequence[str],
) -> Job:
    """Return the job with its inputs checked."""
    options = {
        option: value
        for option in ("device", "threads", "memory", "checkpoints", "checkpoint_minutes")
        if (value := arguments.pop(option)) is not None
    }
    changed: dict[str, Any] = {
        option: options.pop(option)
        for option in ("device", "threads", "memory")
        if option in options
    }
    parameters = parameters_of(given, changed)
    files = {option: paths for option, paths in arguments.items() if paths is not None}
    modules = _modules(name, given)
    job = Job(
        name,
        parameters,
        files,
        [option for option in map(_bare, inputs) if option in files],
        _with_code(given, modules),
        [option for option in map(_bare, outputs) if option in files],
        modules=modules,
        **options,
    )
    for option in job.inputs:
        for file in job.files[option]:
            job.check(file)
    return job


def _modules(name: str, given: dict[str, Any]) -> dict[str, str]:
    """Return what runs; nothing for a script that is none of this repository's."""
    script = Path(sys.argv[0]).resolve()
    if script.parent.name != "scripts" or not (script.parents[2] / fingerprint.PACKAGE).is_dir():
        return {}
    code = given.get("code")
    choices = code.get("choices", []) if isinstance(code, dict) else []
    return fingerprint.modules(script.parents[2], name, choices)


def _with_code(given: dict[str, Any], modules: dict[str, str]) -> dict[str, Any]:
    """Return the parameters with the fingerprint of what truly runs.

    It is another than that of the parameters where a source was changed after Snakemake planned the
    job, or where an old file of parameters is used again.
    """
    code, runs = given.get("code"), fingerprint.fingerprint_of(modules)
    if not modules or not isinstance(code, dict) or code.get("fingerprint") == runs:
        return given
    log.warning("the code that runs is not that which the parameters tell of; records tell of it")
    return given | {"code": code | {"fingerprint": runs}}


def _finish(job: Job) -> None:
    if "manifest" in job.files:
        job.write_manifest(job.path("manifest"))
    job.write_records()
    unfinished = job.unfinished()
    if unfinished is not None:
        shutil.rmtree(unfinished, ignore_errors=True)
    seconds = time.monotonic() - job.started
    figures = ", ".join(f"{name} {_short(value)}" for name, value in job.figures.items())
    log.info("done in %.1f s%s", seconds, f": {figures}" if figures else "")


def _bare(name: str) -> str:
    """Return an input's or output's name without the mark that says how many paths it takes."""
    return name.rstrip("+?*")


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
