"""The manifest of a published study: which files, in which archive, and what made them."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from poolbias.errors import DataError
from poolbias.files import read_json, write_json
from poolbias.publishing.lineage import Made

NAME = "manifest.json"


@dataclass(frozen=True)
class Entry:
    """A published file: its hash, the archive that holds it, what made it."""

    sha256: str
    archive: str
    made: Made


@dataclass
class Manifest:
    """What lies in the folder of a published study.

    Attributes:
        study: the study's name.
        files: the packed files by their path from `results` on.
        archives: SHA-256 of each archive, by its path in the folder.
        shown: SHA-256 of each figure, table and page, by its path in the folder.
    """

    study: str
    files: dict[str, Entry] = field(default_factory=dict)
    archives: dict[str, str] = field(default_factory=dict)
    shown: dict[str, str] = field(default_factory=dict)

    def write(self, path: Path) -> None:
        """Write it as JSON; what made files is written once for all that it made."""
        made = list(dict.fromkeys(entry.made for _, entry in sorted(self.files.items())))
        write_json(
            path,
            {
                "study": self.study,
                "archives": self.archives,
                "shown": self.shown,
                "made": [each.to_json() for each in made],
                "files": {
                    name: [entry.sha256, entry.archive, made.index(entry.made)]
                    for name, entry in self.files.items()
                },
            },
        )


def read(path: Path) -> Manifest:
    """Read a manifest.

    Raises:
        DataError: if it is missing, damaged or something else.
    """
    value: Any = read_json(path)
    try:
        made = [Made.from_json(each) for each in value["made"]]
        files = {
            name: Entry(digits, archive, made[number])
            for name, (digits, archive, number) in value["files"].items()
        }
        return Manifest(value["study"], files, dict(value["archives"]), dict(value["shown"]))
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise DataError(
            f"{path}: found no manifest of a published study ({type(error).__name__}: {error}), "
            "need one as `python -m poolbias publish` writes it; restore the file."
        ) from error
