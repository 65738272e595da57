"""A study as a commented YAML file: every key with its sentence, range and unit."""

import textwrap
from collections.abc import Iterator
from typing import Any, Literal, get_origin

from pydantic.fields import FieldInfo

from poolbias.config.base import NONE, Section
from poolbias.config.entries import METHODS, Entry
from poolbias.config.fields import range_of, shape_of_field, unit_of
from poolbias.config.study import Study
from poolbias.config.yaml import flow

WIDTH = 100
GLUE = "\N{NO-BREAK SPACE}"  # keeps a note on one line; written as a blank
LONGEST = 32  # characters of a line that has its comment beside it


def render(study: Study, experiments: list[dict[str, Any]], command: str) -> str:
    """Return a study file that holds every value, each under or beside its comment.

    Args:
        study: the study.
        experiments: its experiments as they are to be written, lists unexpanded.
        command: what writes the file, for its head.
    """
    lines = [
        "# yaml-language-server: $schema=schemas/study.schema.json",
        f"# The default study. This file is written by `{command}`",
        "# from poolbias/config/default.py, so change values there. For a study of your own copy",
        "# this file, give it another name in `study:`, and run",
        "# `snakemake --configfile config/<yours>.yaml`. docs/configuration.md explains every key.",
        "",
        *_section(study, 0),
        "",
        *_experiments(experiments),
    ]
    return "\n".join(lines) + "\n"


def _section(section: Section, indent: int) -> Iterator[str]:
    """Yield the lines of a section: its plain values as a block, then the sections within it."""
    fields = type(section).model_fields
    nested = {name for name in fields if isinstance(getattr(section, name), Section | dict)}
    plain = {
        f"{' ' * indent}{name}: {flow(getattr(section, name))}": _comment(field)
        for name, field in fields.items()
        if name not in nested and name != "experiments"
    }
    yield from _block(plain, indent)
    for name in (name for name in fields if name in nested):
        if indent == 0:
            yield ""
        yield f"{' ' * indent}# {fields[name].description}"
        yield f"{' ' * indent}{name}:"
        value = getattr(section, name)
        if isinstance(value, Section):
            yield from _section(value, indent + 2)
        else:
            for key, item in value.items():
                yield f"{' ' * (indent + 2)}{key}:  # {str(item.__doc__).splitlines()[0]}"
                yield from _section(item, indent + 4)


def _block(comments: dict[str, str], indent: int) -> Iterator[str]:
    """Yield lines with their comments beside them, or above those that are long."""
    short = [len(line) for line in comments if len(line) <= LONGEST]
    column = max(short, default=0) + 2
    for line, comment in comments.items():
        if len(line) > LONGEST:
            yield from _wrapped(comment, f"{' ' * indent}# ")
            yield line
        else:
            first, *rest = _wrapped(comment, f"{' ' * column}# ")
            yield line + first[len(line) :]
            yield from rest


def _wrapped(text: str, start: str, then: str = "") -> list[str]:
    lines = textwrap.wrap(text, WIDTH, initial_indent=start, subsequent_indent=start + then)
    return [line.replace(GLUE, " ") for line in lines]


def _comment(field: FieldInfo) -> str:
    shape, description = shape_of_field(field), str(field.description)
    unit = unit_of(field)
    told = unit == NONE or unit in description.lower()
    allowed = range_of(shape)
    only = get_origin(shape.base) is Literal and " | " not in allowed
    notes = ", ".join(filter(None, ["" if told else unit, "" if only else allowed]))
    return f"{description} [{notes.replace(' ', GLUE)}]" if notes else description


def _experiments(experiments: list[dict[str, Any]]) -> Iterator[str]:
    yield f"# {Study.model_fields['experiments'].description}"
    yield "# Several lists of one item make every combination. Keys of an item:"
    width = max(map(len, Entry.model_fields))
    for name, field in Entry.model_fields.items():
        yield from _wrapped(f"{name.ljust(width)}  {field.description}", "#   ", " " * (width + 2))
    yield "# Methods and their options:"
    for name, method in METHODS.items():
        options = ", ".join(option for option in method.model_fields if option != "name")
        yield from _wrapped(
            f"{name} ({options}): {str(method.__doc__).splitlines()[0]}", "#   ", "  "
        )
    yield "experiments:"
    for entry in experiments:
        for number, (key, value) in enumerate(entry.items()):
            yield f"  {'- ' if number == 0 else '  '}{key}: {flow(value)}"
