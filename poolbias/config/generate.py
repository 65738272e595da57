"""The files that follow from the model: the default study, the JSON schema, the docs' tables."""

import difflib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from poolbias.config.base import Section
from poolbias.config.default import STUDY
from poolbias.config.entries import METHODS, NAMED, Entry
from poolbias.config.fields import range_of, shape_of_field, type_name, unit_of
from poolbias.config.render import render
from poolbias.config.study import Study
from poolbias.config.yaml import flow
from poolbias.errors import ConfigError
from poolbias.files import open_text, write_text

COMMAND = "python -m poolbias config --write"
CONFIG = "config/config.yaml"
SCHEMA = "config/schemas/study.schema.json"
DOCS = "docs/configuration.md"
BEGIN = f"<!-- begin: written by `{COMMAND}` from poolbias/config -->"
END = "<!-- end -->"
ROOT = Path(__file__).resolve().parents[2]


def files(root: Path = ROOT) -> dict[str, str]:
    """Return what each generated file should hold, by its path from the repository's root.

    Raises:
        ConfigError: if docs/configuration.md lacks the lines between which its tables stand.
        DataError: if it does not exist.
    """
    return {
        CONFIG: render(Study.model_validate(STUDY), STUDY["experiments"], COMMAND),
        SCHEMA: json.dumps(json_schema(), indent=1, ensure_ascii=False) + "\n",
        DOCS: _docs(root / DOCS),
    }


def drift(root: Path = ROOT) -> str:
    """Return how the files differ from what the model says, as a unified diff; empty if not."""
    found: list[str] = []
    for name, text in files(root).items():
        path = root / name
        old = path.read_text(encoding="utf-8") if path.exists() else ""
        found += difflib.unified_diff(
            old.splitlines(keepends=True),
            text.splitlines(keepends=True),
            f"{name} (as it is)",
            f"{name} (as the model says)",
        )
    return "".join(found)


def write(root: Path = ROOT) -> list[str]:
    """Write the generated files anew and return the names of those that changed."""
    changed = []
    for name, text in files(root).items():
        path = root / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            with write_text(path) as file:
                file.write(text)
            changed.append(name)
    return changed


def json_schema() -> dict[str, Any]:
    """Return the JSON schema of a study file, for editors."""
    schema = Study.model_json_schema()
    entry = Entry.model_json_schema()
    properties: dict[str, Any] = entry["properties"]
    methods = {name: method.model_json_schema() for name, method in METHODS.items()}
    training = schema["$defs"]["Training"] | {"title": "TrainingOfExperiment"}
    properties["method"] |= _or_list(
        {"anyOf": [{"enum": list(methods)}, *map(_lists, methods.values())]}
    )
    properties["training"] = _or_list(_lists(training)) | {
        "description": properties["training"]["description"]
    }
    for name in NAMED:
        properties[name] = _or_list({"type": "string"}) | {
            "description": properties[name]["description"]
        }
    entry["required"] = ["retriever", "method"]
    schema["properties"]["experiments"]["items"] = {"$ref": "#/$defs/Entry"}
    schema["$defs"]["Entry"] = entry
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _lists(section: dict[str, Any]) -> dict[str, Any]:
    """Return a section's schema in which each value may be a list of several."""
    properties = {name: _or_list(value) for name, value in section["properties"].items()}
    return section | {"properties": properties}


def _or_list(value: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": [value, {"type": "array", "minItems": 1, "items": value}]}


def _docs(path: Path) -> str:
    with open_text(path) as file:
        text = file.read()
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ConfigError(
            f"{path}: found no line {BEGIN if not begin else END}, need it to place the tables; "
            "add it."
        )
    return f"{before}{BEGIN}\n\n{tables()}\n{END}{after}"


def tables() -> str:
    """Return a Markdown table per section of a study file."""
    return "\n".join("\n".join(_table(*section)) for section in _sections())


def _sections() -> Iterator[tuple[str, type[Any]]]:
    """Yield a heading and the class of each section, in the order of a study file."""
    yield "The study file", Study
    for name, field in Study.model_fields.items():
        if name != "experiments":
            yield from _below(name, shape_of_field(field))
    yield "An item of `experiments`", Entry
    for name, method in METHODS.items():
        yield f"Method `{name}`", method


def _below(path: str, shape: Any) -> Iterator[tuple[str, type[Any]]]:
    if type_name(shape) != "section":
        return
    if not shape.section and not shape.choices:
        path, shape = f"{path}.<name>", shape.item
    kinds = shape.choices or {"": shape.section}
    for kind, section in kinds.items():
        yield f"`{path}`" + (f" with `{shape.discriminator}: {kind}`" if kind else ""), section
        for name, field in section.model_fields.items():
            yield from _below(f"{path}.{name}", shape_of_field(field))


def _table(heading: str, section: type[Any]) -> Iterator[str]:
    yield from (f"### {heading}", "", str(section.__doc__).strip().split("\n")[0], "")
    yield from ("| Key | Type | Default | Range | Unit | Meaning |", "|---|---|---|---|---|---|")
    for name, field in sorted(section.model_fields.items(), key=lambda each: each[0] != "name"):
        shape = shape_of_field(field)
        if section is Entry and name in NAMED and name != "retriever":
            default = "the only one"
        elif field.is_required():
            default = "required"
        elif isinstance(field.default, Section):
            default = "its defaults"
        else:
            default = f"`{flow(field.default)}`"
        allowed = range_of(shape).replace("|", "\\|")
        cells = [f"`{name}`", type_name(shape), default, allowed, unit_of(field)]
        yield f"| {' | '.join(cells)} | {field.description} |"
    yield ""
