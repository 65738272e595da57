"""pydantic's errors as problems of a study file, in a person's words."""

import re
from typing import Any, Literal, get_args, get_origin

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from poolbias.config.fields import LINES, Shape, locate, needed, shape_of
from poolbias.config.places import Place
from poolbias.config.problems import Problem, nearest, shown

DOCS = "docs/configuration.md"


def problems(annotation: Any, error: ValidationError, start: Place = ()) -> list[Problem]:
    """Return a problem for each error of validating `annotation`.

    Args:
        annotation: the model, or the type, that was validated.
        error: what pydantic raised.
        start: the place of the validated value in the study file.
    """
    shape = shape_of(annotation)
    found = [_problem(shape, details, start) for details in error.errors(include_url=False)]
    return list(dict.fromkeys(found))


def of_value(shape: Shape, value: Any, place: Place) -> Problem:
    """Return the problem that `value` is not of this shape."""
    need = needed(shape)
    return Problem(place, f"found {shown(value)}, need {need}; {_advice(shape, value)}")


def missing(shape: Shape, place: Place) -> Problem:
    """Return the problem that a key is not there."""
    return Problem(place, f"this key is missing, need {needed(shape)}; add it ({DOCS}).")


def unknown_key(keys: list[str], place: Place) -> Problem:
    """Return the problem that a section does not know a key."""
    near = nearest(place[-1], keys)
    do = f"did you mean {near!r}?" if near else f"correct or remove it (known: {', '.join(keys)})."
    return Problem(place, f"this key is not known here; {do}")


def _problem(model: Shape, details: ErrorDetails, start: Place) -> Problem:
    path, value, kind = details["loc"], details["input"], details["type"]
    place, shape = locate(model, path, start)
    if kind in ("extra_forbidden", "invalid_key"):
        _, above = locate(model, path[:-1])
        keys = list(above.section.model_fields) if above.section else []
        return unknown_key(keys, (*locate(model, path[:-1], start)[0], str(path[-1])))
    if kind == "missing":
        return missing(shape, place)
    if shape.discriminator and kind.startswith("union_tag"):
        choice = (*place, shape.discriminator)
        literal = Shape(Literal[tuple(shape.choices)])
        if kind == "union_tag_not_found":
            return missing(literal, choice)
        return of_value(literal, value[shape.discriminator], choice)
    if kind == "value_error":
        return Problem(place, str(details["ctx"]["error"]))
    return of_value(shape, value, place)


def _advice(shape: Shape, value: Any) -> str:
    origin, base = get_origin(shape.base), shape.base
    scalar = not isinstance(value, list | dict) and value is not None
    if value is None and shape.section:
        return "write {} for its defaults."
    if origin is list and scalar:
        return f"write [{shown(value)}]."
    if base in (int, float) and isinstance(value, str) and _is_number(value):
        return "write it without quotes."
    if base is int and isinstance(value, float) and value.is_integer():
        return f"write {int(value)}."
    if base is bool and str(value).lower() in ("on", "off", "yes", "no", "true", "false", "0", "1"):
        return f"write {'true' if str(value).lower() in ('on', 'yes', 'true', '1') else 'false'}."
    if base is str and scalar and not isinstance(value, str):
        return f"write '{shown(value)}' in quotes if it is text."
    if needed(shape).startswith(LINES) and scalar:
        return "write them on lines of their own, indented."
    near = nearest(value, get_args(base)) if scalar and origin is Literal else None
    return f"did you mean {near!r}?" if near and near != value else "correct the value."


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[-+]?(\.\d+|\d+(\.\d*)?)([eE][-+]?\d+)?", text) is not None
