"""What is generated from the model: the JSON schema, the docs table, the list of keys."""

from collections.abc import Iterator
from typing import Any

from poolbias.config.experiments import METHOD, Entry
from poolbias.config.model import Study, Training

_MODELS = {"Study": Study, "Entry": Entry, "Training": Training}


def json_schema() -> dict[str, Any]:
    """Return the JSON schema of a study file."""
    schema = Study.model_json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    return schema


def keys_at(title: str, place: tuple[int | str, ...]) -> list[str]:
    """Return the keys that a section knows, by the model's title and the path into it."""
    schema = _MODELS[title].model_json_schema() if title in _MODELS else METHOD.json_schema()
    return [key for node in _walk(schema, schema, place) for key in node.get("properties", {})]


def _walk(
    schema: dict[str, Any], node: dict[str, Any], place: tuple[int | str, ...]
) -> Iterator[dict[str, Any]]:
    if "$ref" in node:
        node = schema["$defs"][node["$ref"].rsplit("/", 1)[1]]
    for option in node.get("oneOf", []) + node.get("anyOf", []) + node.get("allOf", []):
        # the path names the option that a union chose: it is not a key of the file
        yield from _walk(schema, option, place)
        yield from _walk(schema, option, place[1:]) if place else ()
    if not place:
        yield node
        return
    below = node.get("properties", {}).get(place[0]) or node.get("items")
    below = below or node.get("additionalProperties") or _first(node.get("patternProperties"))
    if isinstance(below, dict):
        yield from _walk(schema, below, place[1:])


def _first(patterns: dict[str, Any] | None) -> Any:
    return next(iter(patterns.values())) if patterns else None
