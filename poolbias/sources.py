"""The list of official files (`config/sources.yaml`): where each is, how long, its hash, its terms.

A file whose length or hash nobody published says `unknown` there: its first download is taken as it
arrives, its SHA-256 is written beside it (`<file>.sha256`), and from then on it must stay that
(our choice: better than no check, worse than a published hash; the log says so).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from poolbias.errors import ConfigError
from poolbias.files import open_text, reading

UNKNOWN = "unknown"
DIGITS = {"md5": 32, "sha256": 64}
_KEYS = ("addresses", "size", "hash", "licence", "note", "most_bytes")


@dataclass(frozen=True, slots=True)
class Source:
    """One official file.

    Attributes:
        name: its name on this machine, and in a user's folder.
        addresses: where it can be had, in the order in which they are tried.
        size: its length in bytes, or None where nobody published it.
        algorithm: `md5` or `sha256`; empty where no hash is known.
        digits: the hash in hexadecimal digits; empty where none is known.
        licence: the terms under which it is given away.
        most_bytes: of an archive, the most that its members may hold together.
    """

    name: str
    addresses: tuple[str, ...]
    size: int | None
    algorithm: str
    digits: str
    licence: str
    most_bytes: int | None = None

    @property
    def by_hand(self) -> str:
        """How a person who gets the file elsewhere knows that it is the right one."""
        size = "any length" if self.size is None else f"{self.size} bytes"
        return f"{size}, {self.algorithm.upper()} {self.digits}" if self.digits else size


def read_sources(path: Path | str) -> dict[str, Source]:
    """Read the list of official files.

    Raises:
        ConfigError: naming file and key for what is missing, unknown or malformed.
        DataError: if there is no such file.
    """
    with reading(path), open_text(path) as text:
        try:
            found = yaml.safe_load(text)
        except yaml.YAMLError as error:
            raise ConfigError(f"{path}: is no YAML ({error}); correct it.") from error
    if not isinstance(found, dict) or not isinstance(found.get("files"), dict):
        raise ConfigError(f"{path}: need a section `files`, a file name each; add it.")
    return {
        name: source_of(str(name), given, f"{path}: files.{name}")
        for name, given in found["files"].items()
    }


def source_of(name: str, given: Any, where: str) -> Source:
    """Return one source from a mapping, as the list of files or a stage's parameters hold it.

    Raises:
        ConfigError: beginning with `where`.
    """
    if not isinstance(given, Mapping):
        raise ConfigError(f"{where}: found {given!r}, need `key: value` lines; correct it.")
    unknown = [key for key in given if key not in _KEYS]
    if unknown:
        raise ConfigError(f"{where}.{unknown[0]}: no such key (known: {', '.join(_KEYS)}).")
    if not re.fullmatch(r"[A-Za-z0-9][\w.+-]*", name):
        raise ConfigError(f"{where}: need a file's bare name; rename it.")
    addresses: Any = given.get("addresses")
    if not _texts(addresses) or not all(re.match(r"https?://", one) for one in addresses):
        raise ConfigError(f"{where}.addresses: need a list of http or https addresses; correct it.")
    size, most = given.get("size"), given.get("most_bytes")
    if size != UNKNOWN and not (isinstance(size, int) and size > 0):
        raise ConfigError(f"{where}.size: found {size!r}, need bytes or {UNKNOWN}; correct it.")
    if most is not None and not (isinstance(most, int) and most > 0):
        raise ConfigError(f"{where}.most_bytes: found {most!r}, need bytes; correct it.")
    algorithm, digits = _hash(given.get("hash"), where)
    licence = given.get("licence")
    if not isinstance(licence, str) or not licence.strip():
        raise ConfigError(f"{where}.licence: need the terms in a few words; add them.")
    length = None if size == UNKNOWN else int(size)
    return Source(name, tuple(addresses), length, algorithm, digits, licence.strip(), most)


def parameters_of(source: Source) -> dict[str, Any]:
    """Return what a stage is given of a source: what says which bytes are right, and where."""
    return {
        "addresses": list(source.addresses),
        "size": UNKNOWN if source.size is None else source.size,
        "hash": f"{source.algorithm}:{source.digits}" if source.digits else UNKNOWN,
        "licence": source.licence,
    }


def _texts(value: Any) -> bool:
    sequence = isinstance(value, Sequence) and not isinstance(value, str)
    return sequence and bool(value) and all(isinstance(item, str) for item in value)


def _hash(value: Any, where: str) -> tuple[str, str]:
    if value == UNKNOWN:
        return "", ""
    algorithm, _, digits = str(value).partition(":")
    length = DIGITS.get(algorithm)
    if length is None or not re.fullmatch(f"[0-9a-f]{{{length}}}", digits):
        raise ConfigError(
            f"{where}.hash: found {value!r}, need md5:<32 digits>, sha256:<64 digits> or "
            f"{UNKNOWN}; correct it."
        )
    return algorithm, digits
