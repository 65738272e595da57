"""What the retrievers of a study file have in common."""

from typing import Any, Literal

from pydantic import Field

from poolbias.config.base import NONE, Section, unit
from poolbias.config.model import Name


class Expected(Section):
    """What a retriever must reach before anything is trained on its run."""

    measure: str = Field(description="Measure as ir-measures spells it, such as R@1000.")
    value: float = Field(ge=0, le=1, description="Value expected.", json_schema_extra=unit(NONE))
    tolerance: float = Field(
        0.005,
        ge=0,
        le=1,
        description="Largest difference from it that passes.",
        json_schema_extra=unit(NONE),
    )
    pool: Name | None = Field(None, description="Pool whose labels judge it; null takes the truth.")
    split: Literal["train", "dev", "test"] = Field("test", description="Queries it is about.")


class Retriever(Section):
    """What retrievers have in common."""

    @property
    def vectors(self) -> bool:
        """Whether it searches vectors."""
        return False


def depth_field() -> Any:
    """Return the field `depth`."""
    return Field(
        200,
        ge=1,
        description="Documents retrieved per query.",
        json_schema_extra=unit("documents"),
    )


def expected_field() -> Any:
    """Return the field `expected`: it stops a study and changes no result, so no hash has it."""
    return Field(
        None,
        exclude=True,
        description="What its run must reach before a ranker is trained on it, or null.",
    )


def memory_field() -> Any:
    """Return the field `memory`."""
    return Field(
        1024,
        ge=1,
        exclude=True,
        description="Most memory that a search takes for its arrays; changes no result.",
        json_schema_extra=unit("MB"),
    )


def shards_field() -> Any:
    """Return the field `shards`."""
    return Field(
        1,
        ge=1,
        exclude=True,
        description="Jobs that share the search of the documents; changes no result.",
        json_schema_extra=unit("jobs"),
    )
