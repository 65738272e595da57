"""Measure how fast the study is: `make benchmark`, or `python -m benchmarks` in its environment."""

import argparse
import os
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from benchmarks import history, report, stages
from benchmarks.setting import Outcome, Setting
from poolbias.errors import ConfigError, PoolbiasError, ToolError
from poolbias.machine import commit, cpu_name

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "results" / "performance"
# What can be measured: module and function, in the order of the tables. Each is imported when it is
# its turn, so that the number of threads is set before torch is loaded.
AREAS = {
    "ceiling": "ceiling:precisions",
    "training": "training:training",
    "coupled": "training:coupled",
    "scoring": "scoring:scoring",
    "encoding": "encoding:encoding",
    "queue": "side_by_side:queue",
    "draws": "draws:draws",
    "tokens": "store:store",
    "search": "search:search",
    "startup": "startup:startup",
    "workflow": "workflow:workflow",
    "growth": "growth:growth",
}
PEERS = dict.fromkeys(("training", "scoring", "encoding"), "sentence_transformers") | {
    "search": "faiss"
}
LEAST = 3  # rounds that have a spread


FEW = "Too few rounds to tell: these numbers show that it runs, no more."


def main(given: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    arguments = _parser().parse_args(given)
    try:
        if arguments.stages:
            print(stages.page(stages.stages(arguments.stages)), end="")
            return 0
        _run(arguments)
    except PoolbiasError as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=AREAS, help="measure these alone")
    parser.add_argument("--repeats", type=int, default=5, help="rounds of each comparison (5)")
    parser.add_argument("--threads", type=int, default=2, help="of every computation (2)")
    parser.add_argument("--quick", action="store_true", help="only see that everything runs")
    parser.add_argument(
        "--record", action="store_true", help="append the ratios to benchmarks/history.tsv"
    )
    parser.add_argument(
        "--output",
        type=Path,
        help="folder of the tables (results/performance; none with --only or --quick)",
    )
    parser.add_argument(
        "--stages",
        type=Path,
        metavar="FOLDER",
        help="measure nothing; sum a study's benchmark files (results/benchmarks) by rule",
    )
    return parser


def _run(arguments: argparse.Namespace) -> None:
    repeats = 1 if arguments.quick else arguments.repeats
    threads = arguments.threads
    known = repeats >= LEAST  # whether the spread is
    if repeats < 1 or threads < 1:
        raise ConfigError(
            f"--repeats is {repeats} and --threads {threads}, need at least 1; correct it."
        )
    if arguments.record and not known:
        raise ConfigError(
            f"--record needs {LEAST} rounds or more and no --quick, since the spread is recorded "
            f"too; found {repeats} rounds{' of --quick' if arguments.quick else ''}."
        )
    areas = arguments.only or list(AREAS)
    _check_packages(areas)
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"):
        os.environ[name] = str(threads)
    machine = f"{cpu_name()}, {os.cpu_count()} cores"
    outcome = _measure(areas, repeats, threads, arguments.quick)
    told = [f"Commit {commit()}, {machine}, {threads} threads, {repeats} rounds."]
    told += _verdict(outcome, machine, threads) if known else [FEW]
    print(report.page(outcome, told), end="")
    some = arguments.only or arguments.quick
    folder = arguments.output or (None if some else RESULTS)
    if folder:
        report.write(folder, outcome, told)
    if arguments.record:
        history.record(outcome.ratios, commit(), machine, threads, history.HISTORY)


def _check_packages(areas: Iterable[str]) -> None:
    """Check that what is compared with is installed."""
    for area in areas:
        package = PEERS.get(area)
        if package and find_spec(package) is None:
            raise ToolError(
                f"{package} is not installed, need it to measure {area}; run `make benchmark`, "
                "which installs it, or measure other things with --only."
            )


def _verdict(outcome: Outcome, machine: str, threads: int) -> list[str]:
    """Return what is to be said of ratios that were recorded before."""
    fell = history.fallen(outcome.ratios, history.read(history.HISTORY), machine, threads)
    if fell:
        return [f"**Fell:** {sentence}" for sentence in fell]
    return ["No ratio fell by more than its spread since the last record of its kind."]


def _measure(areas: list[str], repeats: int, threads: int, quick: bool) -> Outcome:
    from benchmarks.texts import built

    whole = Outcome()
    with built() as texts:
        setting = Setting(texts, repeats, threads, quick)
        for name in areas:
            print(f"measuring {name}", file=sys.stderr, flush=True)
            module, function = AREAS[name].split(":")
            found = getattr(import_module(f"benchmarks.{module}"), function)(setting)
            whole.ratios.extend(found.ratios)
            whole.tables.update(found.tables)
    return whole


if __name__ == "__main__":
    sys.exit(main())
