"""Reading a study file and telling all that is wrong with it, in a person's words, at once."""

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from poolbias.config import entries, sentences, yaml
from poolbias.config.checks import check
from poolbias.config.experiments import name_rows, read_entries
from poolbias.config.model import Training
from poolbias.config.places import Place
from poolbias.config.problems import Problem
from poolbias.config.study import Study
from poolbias.errors import ConfigError

COMMAND_LINE = "--config"


def load(path: Path | str, overrides: dict[str, Any] | None = None) -> Study:
    """Read and check a study file, its experiments included.

    Args:
        path: the YAML file.
        overrides: keys given on the command line (`--config`), which win; those within a section
            leave its other keys as the file has them.

    Raises:
        ConfigError: one line per problem, each with file, line, key, what was found and what is
            needed.
        DataError: if there is no such file.
    """
    document = yaml.read(path)
    if not isinstance(document.value, dict):
        found = "nothing" if document.value is None else f"a {_kind(document.value)} at the top"
        raise ConfigError(
            f"{path}: found {found}, need `key: value` lines; begin with a copy of "
            "config/config.yaml."
        )
    doubts = list(document.doubts)
    given = yaml.reread(overrides or {}, (), doubts)
    study, others = _read(_merged(document.value, given))
    doubtful = {place for place, _ in doubts}
    problems = [Problem(place, words) for place, words in doubts]
    problems += [problem for problem in others if problem.place not in doubtful]
    if problems:
        told = [_told(problem, path, document, given) for problem in problems]
        raise ConfigError("\n".join(words for _, words in sorted(told, key=lambda each: each[0])))
    assert study is not None  # nothing was wrong with it
    return study


def _read(raw: dict[str, Any]) -> tuple[Study | None, list[Problem]]:
    try:
        study = Study.model_validate(raw)
    except ValidationError as error:
        return None, [*sentences.problems(Study, error), *_entry_problems(raw)]
    choices, problems = read_entries(study)
    sound = [c for c in choices if set(study.pools[c.pool].retrievers) <= set(study.retrievers)]
    _, doubles = name_rows(study, sound)
    return study, [*problems, *doubles, *check(study, choices)]


def _entry_problems(raw: dict[str, Any]) -> list[Problem]:
    """Check the experiments of a file that is wrong elsewhere, as far as that leaves it open."""
    listed = raw.get("experiments")
    names = {
        field: [str(name) for name in raw[plural]] if isinstance(raw.get(plural), dict) else None
        for field, plural in entries.NAMED.items()
    }
    return entries.read(listed, names, Training())[1] if isinstance(listed, list) else []


def _merged(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    merged = dict(below)
    for key, value in above.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = _merged(merged[key], value) if both else value
    return merged


def _told(
    problem: Problem, path: Path | str, document: yaml.Document, given: dict[str, Any]
) -> tuple[int, str]:
    """Return the line of a problem, for sorting, and its sentence."""
    if _holds(given, problem.place):
        return 10**9, f"{COMMAND_LINE}: {problem}"
    line = document.line(problem.place)
    return line, f"{path}:{line}: {problem}" if line else f"{path}: {problem}"


def _holds(given: dict[str, Any], place: Place) -> bool:
    """Return whether the command line gave the value at a place."""
    value: Any = given
    for part in place:
        if not isinstance(value, dict):
            return True
        if part not in value:
            return False
        value = value[part]
    return bool(place)


def _kind(value: Any) -> str:
    return "list" if isinstance(value, list) else "single value"
