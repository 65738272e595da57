"""The rankers of a study file besides `bert`: other starts, and two for long documents."""

from typing import Annotated, Literal

from pydantic import Field

from poolbias.config.base import NONE, unit
from poolbias.config.model import BertRanker, CrossEncoder, Name, SequenceRanker

START = (
    "Published encoder: all-MiniLM-L6-v2, or the id of a checkpoint whose files lie in "
    "results/sources/checkpoints/<id>/."
)


class PublishedRanker(CrossEncoder):
    """A ranker over an encoder of any number of layers."""

    layers: int | None = Field(
        None,
        ge=1,
        description="Lowest layers of the encoder that are kept; null keeps all.",
        json_schema_extra=unit("layers"),
    )


class PropRanker(PublishedRanker, SequenceRanker):
    """`bert` from PROP's weights (Ma et al. 2021)."""

    kind: Literal["prop"] = Field("prop", description="The module of the ranker.")
    start: str = Field("xyma/PROP-marco", description=START)


class ErnieRanker(PublishedRanker, SequenceRanker):
    """`bert` from the Chinese ERNIE 1.0 (Sun et al. 2019)."""

    kind: Literal["ernie"] = Field("ernie", description="The module of the ranker.")
    start: str = Field("nghuyong/ernie-1.0-base-zh", description=START)
    query_tokens: int = Field(
        32,
        ge=1,
        description="Longest part kept of a query.",
        json_schema_extra=unit("word pieces"),
    )
    document_tokens: int = Field(
        384,
        ge=1,
        description="Longest part kept of a document.",
        json_schema_extra=unit("word pieces"),
    )
    sequence_tokens: int | None = Field(
        384,
        ge=5,
        le=512,
        description="Longest sequence with its 3 special tokens (the document is cut), or null.",
        json_schema_extra=unit("word pieces"),
    )


class PartsRanker(PublishedRanker):
    """A ranker that takes documents apart; what one pass of the encoder gets always fits it."""

    start: str = Field("all-MiniLM-L6-v2", description=START)


class CedrKnrmRanker(PartsRanker):
    """Kernels over the similarities in every layer, joined with [CLS] (MacAvaney et al. 2019)."""

    kind: Literal["cedr_knrm"] = Field("cedr_knrm", description="The module of the ranker.")
    head_dropout: float = Field(
        0.0,
        ge=0,
        lt=1,
        description="Dropout before the last layer (the authors have none).",
        json_schema_extra=unit("probability"),
    )
    query_tokens: int = Field(
        20,
        ge=1,
        le=256,
        description="Longest part kept of a query.",
        json_schema_extra=unit("word pieces"),
    )
    document_tokens: int = Field(
        800,
        ge=1,
        description="Longest part kept of a document; what is longer than the encoder is split "
        "evenly.",
        json_schema_extra=unit("word pieces"),
    )
    head_learning_rate: float = Field(
        1e-3,
        gt=0,
        description="Peak learning rate of the kernels and of the last layer.",
        json_schema_extra=unit(NONE),
    )
    # Its experiment stands in the hash, not what the study file calls it.
    first_stage: Name | None = Field(
        None,
        exclude=True,
        description="Ranker of this study whose encoder, trained by `naive`, training starts from "
        "(the authors' two stages), or null.",
    )


class ParadeMaxRanker(PartsRanker):
    """The maximum over a document's overlapping parts (Li et al. 2020)."""

    kind: Literal["parade_max"] = Field("parade_max", description="The module of the ranker.")
    head_dropout: float = Field(
        0.1,
        ge=0,
        lt=1,
        description="Dropout before the last layer.",
        json_schema_extra=unit("probability"),
    )
    query_tokens: int = Field(
        64,
        ge=1,
        le=64,
        description="Longest part kept of a query.",
        json_schema_extra=unit("word pieces"),
    )
    document_tokens: int = Field(
        10_000,
        ge=1,
        description="Longest part kept of a document, before parts are chosen.",
        json_schema_extra=unit("word pieces"),
    )
    part_tokens: int = Field(
        150,
        ge=1,
        le=445,
        description="Longest part of a document (the authors count words).",
        json_schema_extra=unit("word pieces"),
    )
    stride_tokens: int = Field(
        100,
        ge=1,
        description="From the start of a part to that of the next; at most part_tokens.",
        json_schema_extra=unit("word pieces"),
    )
    most_parts: int = Field(
        16,
        ge=2,
        description="Most parts of a document: the first, the last, a seeded draw of the others.",
        json_schema_extra=unit("parts"),
    )


AnyRanker = Annotated[
    BertRanker | PropRanker | ErnieRanker | CedrKnrmRanker | ParadeMaxRanker,
    Field(discriminator="kind"),
]
