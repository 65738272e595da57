"""Why a result is as it is: what it was made from, what changed since, what a study asks now."""

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from poolbias import fingerprint, records
from poolbias.errors import DataError
from poolbias.files import sha256_of

SHOWN = 12  # inputs listed at most; changed ones come first
_JOB = re.compile(r"^Job \d+: (?P<what>.*)\nReason: .*\nShell command: (?P<command>.*)$", re.M)


@dataclass(frozen=True)
class Asked:
    """What a study asks of a result: its stage's parameters, and the jobs that come before it."""

    parameters: dict[str, Any]
    before: list[str]


def explain(result: Path, asked: Asked | str, root: Path) -> str:
    """Return, for people, what a result was made from and what would make it again.

    Args:
        result: a file or folder below a results folder, or a file within such a folder.
        asked: what a study asks of it now, or the sentence that says why that is not known.
        root: the repository whose code is compared.

    Raises:
        DataError: if there is no such result, or nothing is known of it.
    """
    result, record = _recorded(result)
    parameters = record["parameters"]
    inputs, changed_inputs = _inputs(result, record)
    lines = [
        str(result),
        _line("made by", f"{record['stage']}, commit {record.get('commit', 'unknown')[:9]}"),
        _line("bytes", _bytes(result, record)),
        *_many("parameters", [f"{key} {value}" for key, value in _flat(parameters)]),
        *_many("inputs", inputs or ["none"]),
        *_many("code", _told_modules(record)),
    ]
    reasons = [*changed_inputs, *_changed_modules(record, root, asked)]
    if isinstance(asked, str):
        return "\n".join([*lines, *_many("again if", reasons or ["nothing changed"]), asked])
    reasons += [*_changed_parameters(parameters, asked.parameters), *asked.before]
    told = reasons or ["nothing: it is what the study asks for"]
    return "\n".join([*lines, *_many("made again for", told)])


def ask(result: Path, configfile: Path | None, root: Path) -> Asked | str:
    """Return what a study asks of a result, by a dry run of Snakemake; or why that is not known."""
    command = [
        *(sys.executable, "-m", "snakemake", str(result), "--dry-run", "--printshellcmds"),
        *("--forcerun", str(result), "--snakefile", str(root / "Snakefile")),
        *(["--configfile", str(configfile)] if configfile else []),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    jobs = list(_JOB.finditer(done.stdout))
    if done.returncode or not jobs:
        lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        return f"The study asks for no such file ({lines[-1] if lines else 'no job makes it'})."
    given = json.loads(shlex.split(jobs[-1]["command"])[2])
    return Asked(given, [f"first: {job['what']}" for job in jobs[:-1]])


def _recorded(result: Path) -> tuple[Path, dict[str, Any]]:
    """Return the result, or the folder that was made as one and that it lies in, and its record."""
    if not result.exists():
        raise DataError(f"{result}: no such result; name a file below results/.")
    for path in (result, *result.parents):
        record = records.read(path)
        if record is not None:
            return path, record
    below = records.place(result)
    known = sorted(below.with_suffix("").rglob("*.json")) if below else []
    hint = (
        f"name a file in it, {records.name(result)}/{known[0].stem}, say"
        if known
        else ("it was made by hand, or before records were kept: make it again to know")
    )
    raise DataError(f"{result}: nothing is known of it; {hint}.")


def _bytes(result: Path, record: dict[str, Any]) -> str:
    found = records.describe(result)
    if found["sha256"] == record["sha256"]:
        return f"{found['bytes']}, as they were written"
    return f"{found['bytes']}, CHANGED since they were written ({record['bytes']})"


def _inputs(result: Path, record: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Return a line for each input, changed ones first, and those that changed as reasons."""
    same, changed = [], []
    for name, digits in record["inputs"].items():
        path = records.locate(name, result)
        if not path.exists():
            changed.append((name, "is gone"))
        elif sha256_of(path) != digits:
            changed.append((name, "changed since"))
        else:
            same.append(name)
    lines = [*(f"{name} ({state})" for name, state in changed), *same]
    if len(lines) > SHOWN:
        lines = [*lines[:SHOWN], f"and {len(lines) - SHOWN} more"]
    return lines, [f"its input {name} {state}" for name, state in changed]


def _told_modules(record: dict[str, Any]) -> list[str]:
    code = record["parameters"].get("code")
    found = code.get("fingerprint", "unknown") if isinstance(code, dict) else "unknown"
    names = sorted(set(record.get("modules", {})) - {record["stage"], "choices"})
    return [f"fingerprint {found}, {len(names)} modules", *names]


def _changed_modules(record: dict[str, Any], root: Path, asked: Asked | str) -> Iterator[str]:
    """Yield a reason for each part of the code that means something else now, or is new or gone."""
    before = record.get("modules", {})
    given = record["parameters"] if isinstance(asked, str) else asked.parameters
    code = given.get("code")
    choices = code.get("choices", []) if isinstance(code, dict) else []
    if not before or not (root / "workflow" / "scripts" / f"{record['stage']}.py").is_file():
        return
    now = fingerprint.modules(root, record["stage"], choices)
    for name in sorted({*before, *now}):
        what = "its script" if name == record["stage"] else name
        if name not in now:
            yield f"{what} is not used any more"
        elif name not in before:
            yield f"{what} is used now"
        elif before[name] != now[name]:
            yield f"{what} changed"


def _changed_parameters(before: dict[str, Any], now: dict[str, Any]) -> Iterator[str]:
    old, new = dict(_flat(before)), dict(_flat(now))
    for key in [*old, *(key for key in new if key not in old)]:
        if old.get(key) != new.get(key):
            yield f"parameter {key} was {old.get(key, 'not there')}, is {new.get(key, 'not there')}"


def _flat(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """Yield parameters by dotted keys, without `code`, as JSON spells them."""
    if isinstance(value, dict) and value:
        for name, item in value.items():
            if key or name != "code":
                yield from _flat(item, f"{key}.{name}" if key else name)
    elif key:
        yield key, json.dumps(value)


def _many(name: str, values: Iterable[str]) -> list[str]:
    found = list(values)
    return [_line(name if not number else "", value) for number, value in enumerate(found)]


def _line(name: str, value: str) -> str:
    return f"  {name:<15} {value}"
