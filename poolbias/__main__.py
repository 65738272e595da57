"""The command line: `python -m poolbias experiments`, `python -m poolbias config`."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from poolbias.errors import PoolbiasError

ROOT = Path(__file__).resolve().parents[1]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        arguments: the words after the program's name; None takes those of the process.

    Returns:
        0, or 1 for a mistake (told in a sentence on standard error) or for files that differ.
    """
    chosen = _parser().parse_args(arguments)
    try:
        if chosen.command == "experiments":
            return _experiments(chosen.configfile, chosen.results)
        return _config(chosen.write)
    except PoolbiasError as error:
        sys.stderr.write(f"{error}\n")
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="poolbias", description="Look at a study without running it."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    experiments = commands.add_parser(
        "experiments", help="print a study's experiments, where they differ, and their states"
    )
    experiments.add_argument(
        "--configfile",
        type=Path,
        default=ROOT / "config" / "config.yaml",
        metavar="FILE",
        help="the study file (the default study)",
    )
    experiments.add_argument(
        "--results",
        type=Path,
        default=Path("results"),
        metavar="FOLDER",
        help="where the results of all studies are (results)",
    )
    config = commands.add_parser(
        "config", help="show how the files written from the model differ from it (then exit 1)"
    )
    config.add_argument("--write", action="store_true", help="write these files anew")
    return parser


def _experiments(configfile: Path, results: Path) -> int:
    from poolbias.config.load import load
    from poolbias.config.states import table
    from poolbias.stages import given_training

    sys.stdout.write(table(load(configfile), results, given_training) + "\n")
    return 0


def _config(write: bool) -> int:
    from poolbias.config import generate

    if write:
        changed = generate.write()
        sys.stdout.write("".join(f"{name} written\n" for name in changed) or "nothing to change\n")
        return 0
    difference = generate.drift()
    sys.stdout.write(difference)
    if difference:
        sys.stderr.write(f"these files differ from the model; run `{generate.COMMAND}`\n")
    return int(bool(difference))


if __name__ == "__main__":
    sys.exit(main())
