"""The typed model of a study file; the default file, the schema and the docs come from it.

Each field has one sentence (`description`), its bounds, and its unit (`unit`).
"""

from typing import Annotated, Literal

from pydantic import Field, field_validator

from poolbias.config.base import NONE, Section, unit

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_+-]*$")]
Share = Annotated[float, Field(gt=0, lt=1)]


class Shares(Section):
    """How queries are split, as shares of the terms (or branches); they add up to 1."""

    train: Share = Field(0.7, description="Share for training.", json_schema_extra=unit("share"))
    dev: Share = Field(
        0.1, description="Share for choosing settings.", json_schema_extra=unit("share")
    )
    test: Share = Field(0.2, description="Share for the results.", json_schema_extra=unit("share"))


class HpoCollection(Section):
    """The Human Phenotype Ontology: definitions as documents, names and synonyms as queries."""

    kind: Literal["hpo"] = Field("hpo", description="The module that builds the collection.")
    # The standard value is left out of names and hashes, which it does not change.
    documents: Literal["definition", "definition_and_branch"] = Field(
        "definition",
        exclude_if=lambda documents: documents == "definition",
        description="A term's name and definition, or with those of its top-level branches.",
    )
    split: Literal["term", "branch"] = Field(
        "term", description="Keep all queries of a term, or of a whole branch, in one split."
    )
    kinds: list[Literal["layperson", "name"]] = Field(
        ["layperson", "name"], min_length=1, description="Queries: layperson synonyms, names."
    )
    minimum_relevant: int = Field(
        5,
        ge=1,
        description="Fewest relevant documents of a query.",
        json_schema_extra=unit("documents"),
    )
    maximum_relevant: int = Field(
        200,
        ge=1,
        description="Most relevant documents of a query.",
        json_schema_extra=unit("documents"),
    )
    root: str = Field(
        "HP:0000001", description="Term whose part of the ontology is used; HP:0000001 is all."
    )
    maximum_queries: int | None = Field(
        None,
        ge=3,
        description="Cut to about so many queries (seeded by term); null keeps all.",
        json_schema_extra=unit("queries"),
    )
    shares: Shares = Field(Shares(), description="Sizes of train, dev and test.")
    seed: int = Field(1, ge=0, description="Seed of the splits.", json_schema_extra=unit(NONE))

    @field_validator("kinds")
    @classmethod
    def _in_one_order(cls, kinds: list[str]) -> list[str]:
        return sorted(kinds)  # their order means nothing, so it must not make a second collection


class Pool(Section):
    """Simulated annotators: what they are shown, and what they label."""

    retrievers: list[str] = Field(
        ["outside"],
        description="Retrievers whose top results annotators see; [] for a collection with "
        "judgements of its own, which are then the labels.",
    )
    depth: int = Field(
        10,
        ge=1,
        description="Ranks of each retriever that annotators see.",
        json_schema_extra=unit("ranks"),
    )
    labels_per_query: int | None = Field(
        None,
        ge=1,
        description="Most labels of a query; null labels every relevant document seen.",
        json_schema_extra=unit("labels"),
    )
    seed: int = Field(
        1,
        ge=0,
        description="Seed of the choice where labels are limited.",
        json_schema_extra=unit(NONE),
    )


class Ranker(Section):
    """What every ranker has."""

    kind: str
    # What tables call it changes no ranker: no part of any name or hash.
    shown: Name | None = Field(
        None,
        exclude=True,
        description="Name in tables and figures, so that rankers of one kind with other lengths "
        "for other collections stand together; null is its own.",
    )


class CrossEncoder(Ranker):
    """What every ranker over a published encoder has; `layers` null keeps all of its layers."""

    start: str
    layers: int | None
    dropout: float = Field(
        0.1,
        ge=0,
        lt=1,
        description="Dropout inside the encoder.",
        json_schema_extra=unit("probability"),
    )
    head_dropout: float = Field(
        0.2,
        ge=0,
        lt=1,
        description="Dropout before the last layer.",
        json_schema_extra=unit("probability"),
    )
    engine: Literal["packed", "plain"] = Field(
        "packed", description="Our forward pass without padding (on a CPU), or transformers' own."
    )
    attention: Literal["eager", "sdpa"] = Field(
        "eager", description="Attention implementation of the plain engine."
    )
    query_tokens: int = Field(
        16,
        ge=1,
        description="Longest part kept of a query.",
        json_schema_extra=unit("word pieces"),
    )
    document_tokens: int = Field(
        64,
        ge=1,
        description="Longest part kept of a document.",
        json_schema_extra=unit("word pieces"),
    )


class SequenceRanker(CrossEncoder):
    """A ranker that reads query and document as one sequence."""

    sequence_tokens: int | None = Field(
        None,
        ge=5,
        le=512,
        description="Longest sequence with its 3 special tokens (the document is cut), or null.",
        json_schema_extra=unit("word pieces"),
    )


class BertRanker(SequenceRanker):
    """A cross-encoder with one logit: pooler, dropout, linear (the paper's Eq. 14)."""

    kind: Literal["bert"] = Field("bert", description="The module of the ranker.")
    start: str = Field(
        "all-MiniLM-L6-v2",
        description="Published encoder that training starts from: all-MiniLM-L6-v2, or the id of a "
        "checkpoint whose files lie in results/sources/checkpoints/<id>/.",
    )
    layers: int = Field(
        3,
        ge=1,
        le=24,
        description="Lowest layers of the encoder that are kept.",
        json_schema_extra=unit("layers"),
    )


class Training(Section):
    """The training loop; the values that are not the paper's are named in docs/differences.md."""

    steps: int = Field(400, ge=1, description="Optimiser steps.", json_schema_extra=unit("steps"))
    pairs: int = Field(
        32,
        ge=1,
        description="Labelled pairs of a step, each with its negatives.",
        json_schema_extra=unit("pairs"),
    )
    learning_rate: float = Field(
        1e-4,
        gt=0,
        description="Peak learning rate (paper: 3e-6).",
        json_schema_extra=unit(NONE),
    )
    betas: list[Annotated[float, Field(ge=0, lt=1)]] = Field(
        [0.9, 0.999],
        min_length=2,
        max_length=2,
        description="AdamW's decay of its two averages.",
        json_schema_extra=unit(NONE),
    )
    epsilon: float = Field(1e-8, gt=0, description="AdamW's epsilon.", json_schema_extra=unit(NONE))
    weight_decay: float = Field(
        0.01,
        ge=0,
        description="Decay of weights, but not of biases and LayerNorms.",
        json_schema_extra=unit(NONE),
    )
    warm_up: float = Field(
        0.1,
        ge=0,
        lt=1,
        description="Part of the steps in which the rate rises.",
        json_schema_extra=unit("share of steps"),
    )
    clip: float = Field(
        1.0,
        gt=0,
        description="Largest norm of a model's gradient.",
        json_schema_extra=unit(NONE),
    )
