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


class Faiss(Section):
    """An index of faiss (an optional package) in place of the exact search."""

    kind: Literal["flat", "ivf", "hnsw"] = Field(
        description="All documents, the lists nearest to the query, or a graph."
    )
    lists: int = Field(1024, ge=1, description="Lists of `ivf`.", json_schema_extra=unit("lists"))
    probes: int = Field(
        32,
        ge=1,
        description="Lists of `ivf` that are looked at.",
        json_schema_extra=unit("lists"),
    )
    neighbours: int = Field(
        32, ge=2, description="Neighbours of a document in `hnsw`.", json_schema_extra=unit(NONE)
    )
    construction: int = Field(
        200, ge=1, description="Breadth of `hnsw` when it is built.", json_schema_extra=unit(NONE)
    )
    breadth: int = Field(
        512,
        ge=1,
        description="Breadth of `hnsw` when searched.",
        json_schema_extra=unit(NONE),
    )


class Retriever(Section):
    """What retrievers have in common."""

    @property
    def vectors(self) -> bool:
        """Whether it searches vectors."""
        return False


class VectorRetriever(Retriever):
    """What retrievers that search vectors have in common."""

    @property
    def vectors(self) -> bool:
        """Whether it searches vectors."""
        return True


Names = Literal["repbert", "ance", "star", "adore", "dual_encoder", "minilm"]


def architecture_field() -> Any:
    """Return the field `architecture`."""
    return Field(description="Published architecture: pooling, head, segments, one encoder or two.")


def tokens_field(default: int, what: str) -> Any:
    """Return the field `query_tokens` or `document_tokens`."""
    return Field(
        default,
        ge=3,
        le=512,
        description=f"Longest {what}, special tokens included.",
        json_schema_extra=unit("word pieces"),
    )


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


def faiss_field() -> Any:
    """Return the field `faiss`; where it is null no hash has it."""
    return Field(
        None,
        exclude_if=lambda value: value is None,
        description="An index of faiss that searches the vectors; null searches exactly.",
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
