"""Choices named by string, so that importing one imports no other."""

import difflib
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from poolbias.errors import ConfigError


def resolve(what: str, registry: Mapping[str, str], name: str) -> Any:
    """Return the object that `registry` places at `name`, spelled `module:attribute`.

    Raises:
        ConfigError: if the registry does not know the name; the nearest known one is named.
    """
    try:
        module, _, attribute = registry[name].partition(":")
    except KeyError:
        raise ConfigError(unknown(what, name, registry)) from None
    return getattr(import_module(module), attribute) if attribute else import_module(module)


def unknown(what: str, name: str, known: Mapping[str, Any] | list[str]) -> str:
    """Return the sentence that says that `name` is not known, with the nearest known name."""
    near = difflib.get_close_matches(name, list(known), n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"choose from: {', '.join(sorted(known))}."
    return f"{what} {name!r} is not known; {hint}"
