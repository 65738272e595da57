"""Reading YAML strictly, and writing values so that every YAML reader reads them alike.

YAML 1.1, which most readers follow, takes `3e-6` for text, `042` for 34, `1:30` for 90 and `on` for
true; YAML 1.2 takes them for a number, 42, text and text. Here `3e-6` is a number and `1:30` text;
`042`, and `on`, `off`, `yes`, `no` without quotes, are refused: no reading of them is safe.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import yaml

from poolbias.config.places import Place, spell
from poolbias.errors import ConfigError
from poolbias.files import open_text

_INT = "tag:yaml.org,2002:int"
_TEXT = "tag:yaml.org,2002:str"
_MERGE = "tag:yaml.org,2002:merge"


@dataclass(frozen=True)
class Document:
    """The value of a YAML file, where its keys and items stand, and what no reader should guess."""

    value: Any
    lines: dict[Place, int]
    doubts: list[tuple[Place, str]]

    def line(self, place: Place) -> int:
        """Return the line of a place, or of what is nearest above it; 0 where that is the file."""
        while place and place not in self.lines:
            place = place[:-1]
        return self.lines[place] if place else 0


class _StrictLoader(yaml.SafeLoader):
    """The numbers and truth values of YAML 1.2."""


_StrictLoader.yaml_implicit_resolvers = {}
for _tag, _pattern, _first in (
    ("null", r"^(?:~|null|Null|NULL|)$", "~nN\0"),
    ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", "tTfF"),
    ("int", r"^[-+]?[0-9]+$", "-+0123456789"),
    ("float", r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$", "-+.0123456789"),
    ("merge", r"^(?:<<)$", "<"),
):
    _StrictLoader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_tag}", re.compile(_pattern), [c if c != "\0" else "" for c in _first]
    )


def _number(loader: yaml.SafeLoader, node: yaml.Node) -> float:
    assert isinstance(node, yaml.ScalarNode)
    return int(node.value) if node.tag == _INT else float(node.value)


_StrictLoader.add_constructor(_INT, _number)
_StrictLoader.add_constructor("tag:yaml.org,2002:float", _number)


def load(path: Path | str) -> Any:
    """Read the value of a YAML file.

    Raises:
        ConfigError: a line for each thing that is not YAML, or is read differently by YAML readers.
        DataError: if there is no such file.
    """
    document = read(path)
    if document.doubts:
        raise ConfigError(
            "\n".join(
                f"{path}:{document.line(place)}: {spell(place)}: {words}"
                for place, words in document.doubts
            )
        )
    return document.value


def read(path: Path | str) -> Document:
    """Read one YAML document.

    Returns:
        Its value, with `doubts`: keys that stand twice and values that YAML readers disagree on.

    Raises:
        ConfigError: naming file and line of what is not YAML.
        DataError: if there is no such file.
    """
    try:
        with open_text(path) as text:
            return _read(text.read(), str(path))
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"{path}: found bytes that are not UTF-8 (at byte {error.start}), need UTF-8; "
            "save the file in that encoding."
        ) from error
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}; give the path of a study file.") from error


def reread(value: Any, place: Place, doubts: list[tuple[Place, str]]) -> Any:
    """Read the texts within a value of the command line as YAML would (`'6'` is 6).

    Args:
        value: the value, as Snakemake's `--config` parses it.
        place: where it belongs.
        doubts: takes what YAML readers disagree on.
    """
    if isinstance(value, dict):
        return {key: reread(item, (*place, key), doubts) for key, item in value.items()}
    if isinstance(value, list):
        return [reread(item, (*place, number), doubts) for number, item in enumerate(value)]
    if not isinstance(value, str):
        return value
    loader = _StrictLoader("")
    tag = loader.resolve(yaml.ScalarNode, value, (True, False))  # type: ignore[no-untyped-call]
    node = yaml.ScalarNode(tag, value)
    if words := _doubtful(node):
        doubts.append((place, words))
    return value if node.tag == _MERGE else loader.construct_object(node)


def _read(text: str, name: str) -> Document:
    lines: dict[Place, int] = {}
    doubts: list[tuple[Place, str]] = []
    try:
        loader = _StrictLoader(text)
        node = loader.get_single_node()
        if node is None:
            return Document(None, lines, doubts)
        doubts += dict.fromkeys(_check(node, (), lines, []))
        return Document(loader.construct_document(node), lines, doubts)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else "?"
        problem = error.problem or error.context
        raise ConfigError(f"{name}:{line}: not YAML ({problem}); correct the line.") from error
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise ConfigError(
            f"{name}:{line}: found the character {text[error.position]!r}, need text; remove it."
        ) from error


def _check(
    node: yaml.Node, place: Place, lines: dict[Place, int], above: list[yaml.Node]
) -> Iterator[tuple[Place, str]]:
    """Note the lines of all places; yield place and words of what no reader should guess at."""
    line = node.start_mark.line + 1
    lines.setdefault(place, line)
    if any(node is other for other in above):
        raise yaml.MarkedYAMLError(None, None, "a value that contains itself", node.start_mark)
    if isinstance(node, yaml.ScalarNode):
        if words := _doubtful(node):
            yield place, words
    elif isinstance(node, yaml.SequenceNode):
        for number, item in enumerate(node.value):
            yield from _check(item, (*place, number), lines, [*above, node])
    elif isinstance(node, yaml.MappingNode):
        seen: dict[str, int] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise yaml.MarkedYAMLError(None, None, "a list as a key", key.start_mark)
            here, line = (*place, key.value), key.start_mark.line + 1
            if words := _doubtful(key):
                yield here, words
            if key.value in seen and key.tag != _MERGE:
                yield here, f"this key stands twice (first on line {seen[key.value]}); keep one."
            seen.setdefault(key.value, line)
            lines[here] = line
            yield from _check(value, here, lines, [*above, node])


def _doubtful(node: yaml.ScalarNode) -> str | None:
    if node.style is not None:
        return None
    digits = node.value.lstrip("+-")
    if node.tag == _INT and len(digits) > 1 and digits.startswith("0"):
        return (
            f"found {node.value}, a number with a leading zero, which some programs read as "
            f"octal; write {int(node.value)}, or '{node.value}' in quotes if it is text."
        )
    if node.tag == _TEXT and node.value.lower() in ("on", "off", "yes", "no"):
        truth = "true" if node.value.lower() in ("on", "yes") else "false"
        return (
            f"found {node.value}, which is {truth} for some programs and text for others; "
            f"write {truth}, or '{node.value}' in quotes if it is text."
        )
    return None


def flow(value: Any) -> str:
    """Return a value as YAML on one line, in a spelling that YAML 1.1 and 1.2 read alike."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{flow(key)}: {flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(flow(item) for item in value) + "]"
    text = str(value)
    if isinstance(value, int) or (_is_plain(text) and yaml.safe_load(text) == text):
        return text
    return "'" + text.replace("'", "''") + "'"


def _is_plain(text: str) -> bool:
    return re.fullmatch(r"[A-Za-z]([A-Za-z0-9_@.+:()=/-]*[A-Za-z0-9_)])?", text) is not None


def _float(value: float) -> str:
    """Spell a number with a point, and with the sign of its exponent, as YAML 1.1 needs it."""
    text = repr(value)
    if "e" not in text and not 0 < abs(value) < 1e-3:
        return text
    sign, digits, exponent = Decimal(text).as_tuple()
    digits_text = "".join(map(str, digits)).rstrip("0") or "0"
    power = int(exponent) + len(digits) - 1
    mantissa = f"{digits_text[0]}.{digits_text[1:] or '0'}"
    return f"{'-' if sign else ''}{mantissa}e{power:+d}"
