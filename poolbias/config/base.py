"""The base of every section of a study file."""

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """A section: unknown keys are refused, and no value is turned from one type into another."""

    model_config = ConfigDict(
        extra="forbid", strict=True, validate_assignment=False, use_attribute_docstrings=False
    )
