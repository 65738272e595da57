"""The base of every section of a study file."""

import re
from pathlib import Path

from pydantic import BaseModel, ConfigDict
from pydantic.config import JsonDict

NONE = "none"  # the unit of a number that has none


class Section(BaseModel):
    """A section: unknown keys are refused, and no value is turned from one type into another."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    @property
    def label(self) -> str:
        """The readable part of the folders of what this section makes."""
        return str(getattr(self, "kind"))  # noqa: B009


def unit(name: str) -> JsonDict:
    """Return what a field carries to tell its unit, as `json_schema_extra`."""
    return {"unit": name}


def readable(path: str) -> str:
    """Return a folder's name in small letters, digits and single dashes."""
    return re.sub(r"[^a-z0-9]+", "-", Path(path).name.lower()).strip("-") or "folder"
