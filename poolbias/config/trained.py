"""The retrievers of a study file that the study trains itself."""

from typing import Any, Literal

from pydantic import Field, PrivateAttr, SerializerFunctionWrapHandler, model_serializer

from poolbias.config.base import NONE, Section, unit
from poolbias.config.base_retriever import (
    Expected,
    Faiss,
    Names,
    VectorRetriever,
    architecture_field,
    depth_field,
    expected_field,
    faiss_field,
    memory_field,
    shards_field,
    tokens_field,
)
from poolbias.config.model import Name, Training


class RetrieverTraining(Training):
    """The training of a bi-encoder; values that are not a paper's are sizes for two cores."""

    steps: int = Field(
        300, ge=1, description="Optimiser steps, of each round.", json_schema_extra=unit("steps")
    )
    pairs: int = Field(
        32, ge=1, description="Labelled pairs of a step.", json_schema_extra=unit("pairs")
    )
    learning_rate: float = Field(
        2e-5, gt=0, description="Peak learning rate.", json_schema_extra=unit(NONE)
    )
    chunk: int | None = Field(
        None,
        ge=1,
        description="Texts that are encoded at a time, or null for all; changes rounding only.",
        json_schema_extra=unit("texts"),
    )


class Coupling(Section):
    """CET in the training of a retriever: a selection model beside it, each weights the other's."""

    form: Literal["paper", "released"] = Field(
        "paper", description="Weight as in the paper, or as in the authors' released code."
    )
    temperature: float = Field(
        1.0, gt=0, description="τ of the weight.", json_schema_extra=unit(NONE)
    )


class TrainedRetriever(VectorRetriever):
    """A bi-encoder that the study trains on a pool's labels; exact search over all documents."""

    kind: Literal["trained"] = Field("trained", description="The module that retrieves.")
    architecture: Names = architecture_field()
    start: str = Field(
        "all-MiniLM-L6-v2",
        description="Published encoder, or another trained retriever, that training starts from.",
    )
    layers: int = Field(
        6,
        ge=1,
        le=6,
        description="Lowest layers of a published encoder that are kept.",
        json_schema_extra=unit("layers"),
    )
    pool: Name = Field(description="Pool whose labels train.")
    negatives: Literal["in_batch", "static", "refreshed", "dynamic"] = Field(
        "in_batch",
        description="Where negatives come from: the batch, a run, the encoder's own runs between "
        "rounds, or its own search at each step with documents frozen.",
    )
    negatives_from: Name | None = Field(
        None, description="Retriever whose run gives `static` negatives, or null."
    )
    negatives_depth: int = Field(
        200,
        ge=1,
        description="Ranks that hard negatives come from.",
        json_schema_extra=unit("ranks"),
    )
    negatives_per_positive: int = Field(
        1,
        ge=1,
        description="Hard negatives of each labelled pair, where a run gives them.",
        json_schema_extra=unit("documents"),
    )
    rounds: int = Field(
        1,
        ge=1,
        description="Rounds of search and training, where negatives are `refreshed`.",
        json_schema_extra=unit("rounds"),
    )
    loss: Literal["softmax", "margin", "pairwise", "lambda", "rcl"] = Field(
        "softmax",
        description="Loss of a query: softmax, RepBERT's margin, its own pairs, ADORE's, or CCR.",
    )
    group: Literal["batch", "own"] = Field(
        "batch",
        description="Documents of a query's softmax: the batch's, or its own list's alone.",
    )
    coupling: Coupling | None = Field(
        None,
        exclude_if=lambda value: value is None,
        description="Coupled weights on the pairs of loss `pairwise`, or null.",
    )
    beta: float = Field(
        0.5, ge=0, description="Factor of CCR in loss `rcl`.", json_schema_extra=unit(NONE)
    )
    beta_from: float = Field(
        0.5,
        ge=0,
        le=1,
        description="Part of a round's steps before which CCR is off.",
        json_schema_extra=unit("share of steps"),
    )
    form: Literal["paper", "released"] = Field(
        "paper", description="CCR as the paper has it, or scaled as the released code does."
    )
    temperature: float = Field(
        1.0, gt=0, description="Inner products are divided by it.", json_schema_extra=unit(NONE)
    )
    query_tokens: int = tokens_field(24, "query")
    document_tokens: int = tokens_field(96, "document")
    training: RetrieverTraining = Field(
        RetrieverTraining(), description="Settings of its training."
    )
    seed: int = Field(1, ge=0, description="Seed of draws.", json_schema_extra=unit(NONE))
    precision: Literal["bf16", "float32"] = Field("float32", description="Arithmetic of encoding.")
    depth: int = depth_field()
    faiss: Faiss | None = faiss_field()
    shards: int = shards_field()
    memory: int = memory_field()
    expected: Expected | None = expected_field()
    _made_from: dict[str, Any] = PrivateAttr(default_factory=dict)

    @property
    def label(self) -> str:
        """The readable part of the folders of what it makes."""
        return self.architecture

    def resolve(self, made_from: dict[str, Any]) -> None:
        """Keep what its names stand for in the study: that makes it, and not what they are."""
        self._made_from = made_from

    @model_serializer(mode="wrap")
    def _with_what_names_stand_for(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        dumped: dict[str, Any] = handler(self)
        return dumped | self._made_from
