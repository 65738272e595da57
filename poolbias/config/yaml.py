"""Reading YAML strictly: what a person means by `3e-6` is a number, and a key stands once."""

import re
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import yaml

from poolbias.errors import ConfigError
from poolbias.files import open_text


class _StrictLoader(yaml.SafeLoader):
    """YAML with the numbers and truth values of its version 1.2.

    YAML 1.1, which PyYAML follows, reads `3e-6` as text, `042` as 34, `1:30` as 90 and `on` as
    true. Here `3e-6` is a number and `on`, `yes`, `off`, `no` are text; `042` is refused.
    """

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: dict[Any, int] = {}
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            line = key_node.start_mark.line + 1
            if key in seen:
                raise ConfigError(
                    f"{self.name}:{line}: key {key!r} stands twice (first on line {seen[key]}); "
                    "keep one."
                )
            seen[key] = line
        return super().construct_mapping(node, deep=deep)


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


def _whole_number(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> int:
    text = str(loader.construct_scalar(node))
    digits = text.lstrip("+-")
    if len(digits) > 1 and digits.startswith("0"):
        raise ConfigError(
            f"{loader.name}:{node.start_mark.line + 1}: {text} has a leading zero, which some "
            f"programs read as octal; write {int(text)}, or '{text}' in quotes if it is a name."
        )
    return int(text)


_StrictLoader.add_constructor("tag:yaml.org,2002:int", _whole_number)
_StrictLoader.add_constructor(
    "tag:yaml.org,2002:float",
    lambda loader, node: float(str(loader.construct_scalar(node))),
)


def load(path: Path | str) -> Any:
    """Read one YAML document.

    Raises:
        ConfigError: naming file and line of what is not YAML, of a key that stands twice, or of a
            number with a leading zero.
    """
    with open_text(path) as text:
        loader = _StrictLoader(text)
        loader.name = str(path)
        try:
            return loader.get_single_data()
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            line = mark.line + 1 if mark else "?"
            raise ConfigError(
                f"{path}:{line}: not YAML ({error.problem}); correct the line."
            ) from error
        finally:
            loader.dispose()
