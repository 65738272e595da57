"""The command line: `python -m poolbias` and a command, such as `experiments`; `--help` tells."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

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
        if chosen.command == "doctor":
            return _doctor(chosen.configfile, chosen.results, chosen.overrides)
        if chosen.command == "why":
            return _why(chosen.result, chosen.configfile)
        if chosen.command == "publish":
            return _publish(chosen.study, chosen.results, chosen.folder)
        if chosen.command == "restore":
            return _restore(chosen.folder, chosen.results)
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
    doctor = commands.add_parser(
        "doctor", help="tell what this machine lacks for a study (then exit 1), and how to mend it"
    )
    doctor.add_argument(
        "--overrides", type=json.loads, metavar="JSON", help="keys that win over the study file's"
    )
    why = commands.add_parser(
        "why", help="tell what a result was made from, and what would make it again"
    )
    why.add_argument("result", type=Path, metavar="RESULT", help="a file below results/")
    why.add_argument(
        "--configfile", type=Path, metavar="FILE", help="the study that is asked (the default one)"
    )
    publish = commands.add_parser(
        "publish", help="collect what a study has finished in docs/results/, to be committed"
    )
    publish.add_argument("study", type=Path, metavar="FILE", help="the study file")
    publish.add_argument(
        "--folder", type=Path, metavar="FOLDER", help="where it is to lie (docs/results/<study>)"
    )
    restore = commands.add_parser(
        "restore", help="take up a published study's metrics, so that they are not made again"
    )
    restore.add_argument("folder", type=Path, metavar="FOLDER", help="docs/results/<study>")
    for command in (experiments, doctor):
        command.add_argument(
            "--configfile",
            type=Path,
            default=ROOT / "config" / "config.yaml",
            metavar="FILE",
            help="the study file (the default study)",
        )
    for command in (experiments, doctor, publish, restore):
        command.add_argument(
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


def _doctor(configfile: Path, results: Path, overrides: dict[str, Any] | None) -> int:
    from poolbias.doctor.examination import examine
    from poolbias.doctor.finding import BAD, told

    findings = examine(ROOT, configfile, results, overrides)
    sys.stdout.write(told(findings))
    return int(any(finding.state == BAD for finding in findings))


def _why(result: Path, configfile: Path | None) -> int:
    from poolbias.why import ask, explain

    sys.stdout.write(explain(result, ask(result, configfile, ROOT), ROOT) + "\n")
    return 0


def _publish(configfile: Path, results: Path, folder: Path | None) -> int:
    from poolbias.config.load import load
    from poolbias.publishing.publish import publish

    study = load(configfile)
    folder = folder or ROOT / "docs" / "results" / study.study
    found = publish(study, results, folder, ROOT)
    published = found.manifest
    sys.stdout.write(
        f"{folder}: {len(published.files)} files of metrics in {len(published.archives)} archives, "
        f"{len(published.shown)} figures, tables and pages.\n"
    )
    for sentence in found.left_out.values():
        sys.stderr.write(f"left out: {sentence}\n")
    return 0


def _restore(folder: Path, results: Path) -> int:
    from poolbias.publishing.restore import restore

    done = restore(folder, results, ROOT)
    sys.stdout.write(
        f"{len(done.files)} files of study {done.study} restored below {results}/restored/; "
        "Snakemake reads them where nothing of their path was made here.\n"
    )
    if done.refused:
        sys.stderr.write(f"{done.sentence()}\n")
    return int(bool(done.refused))


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
