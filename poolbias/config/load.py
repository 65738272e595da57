"""Reading a study file and telling all that is wrong with it, in a person's words, at once."""

import difflib
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from poolbias.config import yaml
from poolbias.config.model import Study
from poolbias.errors import ConfigError
from poolbias.registry import unknown


def load(path: Path | str, overrides: dict[str, Any] | None = None) -> Study:
    """Read and check a study file.

    Args:
        path: the YAML file.
        overrides: top-level keys given on the command line (`--config`), which win.

    Raises:
        ConfigError: one line per problem, each with the key, what was found and what is needed.
    """
    raw = yaml.load(path)
    if not isinstance(raw, dict):
        raise ConfigError(f"{path}: need `key: value` lines at the top, as in config/config.yaml.")
    try:
        study = Study.model_validate(raw | (overrides or {}))
    except ValidationError as error:
        raise ConfigError("\n".join(f"{path}: {line}" for line in sentences(error))) from error
    problems = list(_references(study))
    if problems:
        raise ConfigError("\n".join(f"{path}: {problem}" for problem in problems))
    return study


def sentences(error: ValidationError) -> list[str]:
    """Return one sentence per problem that pydantic found."""
    return [_sentence(error, problem) for problem in error.errors()]


def _sentence(error: ValidationError, problem: ErrorDetails) -> str:
    # pydantic puts the chosen class of a union into the path; a person did not write it
    place = ".".join(str(part) for part in problem["loc"]) or "top level"
    found = problem["input"]
    kind = problem["type"]
    if kind == "extra_forbidden":
        return f"{place}: this key is not known{_nearest(error, problem)}; correct or remove it."
    if kind == "missing":
        return f"{place}: this key is missing; add it (docs/configuration.md says what it means)."
    if kind == "float_type" and isinstance(found, str):
        return f"{place}: found the text {found!r}, need a number; write it without quotes."
    what = problem["msg"][0].lower() + problem["msg"][1:]
    return f"{place}: found {found!r}, but {what}; correct the value."


def _nearest(error: ValidationError, problem: ErrorDetails) -> str:
    """Return the known key that an unknown one is most like, as a half sentence."""
    from poolbias.config.schema import keys_at

    key = str(problem["loc"][-1])
    near = difflib.get_close_matches(key, keys_at(error.title, problem["loc"][:-1]), n=1)
    return f" (did you mean {near[0]!r}?)" if near else ""


def _references(study: Study) -> list[str]:
    """Return a sentence for each name that stands for nothing in this file."""
    problems = []
    for name, pool in study.pools.items():
        problems += [
            f"pools.{name}.retrievers: {unknown('retriever', retriever, study.retrievers)}"
            for retriever in pool.retrievers
            if retriever not in study.retrievers
        ]
    problems += [
        f"figures.figure_1.retrievers: {unknown('retriever', retriever, study.retrievers)}"
        for retriever in study.figures.figure_1.retrievers
        if retriever not in study.retrievers
    ]
    for name, collection in study.collections.items():
        total = sum(collection.shares.model_dump().values())
        if abs(total - 1) > 1e-9:
            problems.append(f"collections.{name}.shares: add up to {total:g}, need 1; correct one.")
        if collection.minimum_relevant > collection.maximum_relevant:
            problems.append(
                f"collections.{name}: minimum_relevant is {collection.minimum_relevant}, "
                f"need at most maximum_relevant ({collection.maximum_relevant}); correct one."
            )
    if len(set(study.seeds)) < len(study.seeds):
        problems.append(f"seeds: {study.seeds} names a seed twice; keep one.")
    return problems
