"""What every stage's script shares: its command line, its log, its manifest, its way to fail."""

import argparse
import contextlib
import logging
import os
import platform
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any, TypeVar

from tqdm import tqdm

from poolbias.errors import ConfigError, DataError, PoolbiasError
from poolbias.files import hash_of, read_json, sha256_of, write_json

log = logging.getLogger("poolbias")
T = TypeVar("T")

_VERSIONS = ["numpy", "pandas", "torch", "transformers", "tokenizers", "ir-measures", "pyserini"]


class Parameters(dict[str, Any]):
    """A stage's parameters; a missing one is a mistake in the JSON file, told by name."""

    def __missing__(self, name: str) -> Any:
        raise ConfigError(
            f"--parameters: the key {name!r} is missing (found: {', '.join(self) or 'none'}); add "
            "it, or start from the JSON file beside the log of an earlier run."
        )


@dataclass
class Job:
    """One run of a stage: its parameters, its files, and the figures that it reports at its end."""

    name: str
    parameters: dict[str, Any]
    files: dict[str, list[Path]]
    inputs: list[str]
    given: dict[str, Any]  # the parameters with `code`, the fingerprint of what runs
    figures: dict[str, Any] = field(default_factory=dict)
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
                "inputs": {
                    str(file): sha256_of(file) for name in self.inputs for file in self.files[name]
                },
                "figures": self.figures,
                "versions": versions(),
                "commit": commit(),
                "hardware": f"{platform.machine()}, {cpu_name()}, {os.cpu_count()} cores",
                "wall_seconds": round(time.monotonic() - self.started, 1),
            },
        )


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
    `--device` and `--threads` win over the parameters of these names, for stages whose results they
    change by rounding at most. Every error of a user (`ConfigError` and its kin) ends here.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--parameters", type=Path, required=True, help="JSON file of parameters")
    parser.add_argument("--log", type=Path, help="log file")
    parser.add_argument("--device", help="cpu or cuda")
    parser.add_argument("--threads", type=int, help="threads")
    for name in [*inputs, *outputs]:
        kind = "input" if name in inputs else "output"
        parser.add_argument(
            f"--{_bare(name).replace('_', '-')}",
            nargs={"+": "+", "*": "*"}.get(name[-1], 1),
            type=Path,
            required=name[-1] not in "?*",
            help=kind,
        )
    arguments = vars(parser.parse_args())
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    signal.signal(signal.SIGINT, lambda *_: sys.exit(130))
    stage_name = Path(sys.argv[0]).stem
    with _logging_to(arguments.pop("log")):
        try:
            given = read_json(arguments.pop("parameters"))
            if not isinstance(given, dict):
                raise ConfigError(f"--parameters: found {given!r}, need a JSON object; correct it.")
            parameters = Parameters((n, value) for n, value in given.items() if n != "code")
            for name in ("device", "threads"):
                if (value := arguments.pop(name)) is not None:
                    parameters[name] = value
            files = {name: paths for name, paths in arguments.items() if paths is not None}
            names = [name for name in map(_bare, inputs) if name in files]
            _check_inputs([file for name in names for file in files[name]])
            job = Job(stage_name, parameters, files, names, given)
            log.info("%s starts, parameters %s", stage_name, hash_of(given, 16))
            log.debug("parameters: %s", given)
            log.debug("versions: %s", ", ".join(f"{n} {v}" for n, v in versions().items()))
            main(job)
            if "manifest" in files:
                job.write_manifest(job.path("manifest"))
            seconds = time.monotonic() - job.started
            told = ", ".join(f"{name} {_short(value)}" for name, value in job.figures.items())
            log.info("done in %.1f s%s", seconds, f": {told}" if told else "")
        except PoolbiasError as error:
            log.error("%s: %s", stage_name, error)
            sys.exit(1)
        except OSError as error:
            log.error("%s: %s: %s.", stage_name, error.filename or "file", error.strerror or error)
            sys.exit(1)
        except Exception:  # a fault of ours: the log is where it is looked for
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


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that numbers depend on, if installed."""
    found = {"python": platform.python_version()}
    for name in _VERSIONS:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


def commit() -> str:
    """Return the repository's commit, with `+` if files differ from it; `unknown` without git."""
    root = Path(__file__).resolve().parents[1]
    try:
        head = _git(root, "rev-parse", "HEAD")
        return head + ("+" if _git(root, "status", "--porcelain", "-uno") else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def cpu_name() -> str:
    """Return the processor's name as the system tells it."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or "unknown processor"


def _git(root: Path, *arguments: str) -> str:
    command = ["git", "-C", str(root), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def _bare(name: str) -> str:
    """Return an input's or output's name without the mark that says how many paths it takes."""
    return name.rstrip("+?*")


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _check_inputs(files: list[Path]) -> None:
    for file in files:
        if not file.exists():
            raise DataError(f"{file}: no such input; make it first or correct the path.")


@contextlib.contextmanager
def _logging_to(path: Path | None) -> Iterator[None]:
    handlers: list[logging.Handler] = [logging.StreamHandler()]
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        handlers.append(logging.FileHandler(path, mode="w", encoding="utf-8"))
    for handler in handlers:
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
        log.addHandler(handler)
    handlers[0].setLevel(logging.INFO)  # a log file also tells parameters and versions
    log.setLevel(logging.DEBUG)
    log.propagate = False
    try:
        yield
    finally:
        for handler in handlers:
            log.removeHandler(handler)
            handler.close()
