"""The retrievers of a study file: searched, encoded, taken from run files, or trained."""

from typing import Annotated, Literal

from pydantic import Field

from poolbias.config.base import NONE, unit
from poolbias.config.base_retriever import (
    Expected,
    Faiss,
    Names,
    Retriever,
    VectorRetriever,
    architecture_field,
    depth_field,
    expected_field,
    faiss_field,
    memory_field,
    shards_field,
    tokens_field,
)
from poolbias.config.given_runs import GivenRuns
from poolbias.config.trained import TrainedRetriever


class Bm25Retriever(Retriever):
    """Lucene's BM25 through Anserini."""

    kind: Literal["bm25"] = Field("bm25", description="The module that retrieves.")
    k1: float = Field(
        0.9, ge=0, description="Saturation of a term's frequency.", json_schema_extra=unit(NONE)
    )
    b: float = Field(
        0.4,
        ge=0,
        le=1,
        description="Normalisation by document length.",
        json_schema_extra=unit(NONE),
    )
    documents: Literal["documents", "pool_documents"] = Field(
        "documents",
        description="Texts searched: the documents, or what the annotators' search has.",
    )
    depth: int = depth_field()
    expected: Expected | None = expected_field()

    @property
    def label(self) -> str:
        """The readable part of the folders of its runs."""
        return "outside" if self.documents == "pool_documents" else "bm25"


class DenseRetriever(VectorRetriever):
    """A bi-encoder; exact inner-product search over all documents."""

    kind: Literal["dense"] = Field("dense", description="The module that retrieves.")
    model: Literal["all-MiniLM-L6-v2"] = Field(
        "all-MiniLM-L6-v2", description="The published bi-encoder, used as it is."
    )
    precision: Literal["bf16", "float32"] = Field(
        "float32", description="Arithmetic of the bi-encoder."
    )
    depth: int = depth_field()
    faiss: Faiss | None = faiss_field()
    shards: int = shards_field()
    memory: int = memory_field()
    expected: Expected | None = expected_field()


class CheckpointRetriever(VectorRetriever):
    """A bi-encoder from a folder of weights in a published layout, used as it is."""

    kind: Literal["checkpoint"] = Field("checkpoint", description="The module that retrieves.")
    folder: str = Field(
        min_length=1,
        description="Folder with config.json, the weights and the tokenizer's files.",
    )
    architecture: Names = architecture_field()
    lower_case: bool = Field(False, description="Whether texts are put into small letters first.")
    query_tokens: int = tokens_field(64, "query")
    document_tokens: int = tokens_field(256, "document")
    precision: Literal["bf16", "float32"] = Field(
        "float32", description="Arithmetic of the bi-encoder."
    )
    depth: int = depth_field()
    faiss: Faiss | None = faiss_field()
    shards: int = shards_field()
    memory: int = memory_field()
    expected: Expected | None = expected_field()

    @property
    def label(self) -> str:
        """The readable part of the folders of what it makes."""
        return f"checkpoint-{self.architecture}"


class RunRetriever(Retriever):
    """A retriever that ran elsewhere: its runs are read from files."""

    kind: Literal["run"] = Field("run", description="The module that retrieves.")
    run: str = Field(
        min_length=1,
        description="Path of its run, TREC or MS MARCO (query, document, rank); {split} in it "
        "stands for train, dev and test.",
    )
    query_map: str | None = Field(
        None, description="Table of its query ids and ours, two columns, or null."
    )
    document_map: str | None = Field(
        None, description="Table of its document ids and ours, two columns, or null."
    )
    coverage: float = Field(
        1.0,
        ge=0,
        le=1,
        description="Least share of each split's queries that the run must hold.",
        json_schema_extra=unit("share"),
    )
    depth: int = depth_field()
    expected: Expected | None = expected_field()

    @property
    def splits(self) -> list[str]:
        """The files, one per split or one for all."""
        names = ("train", "dev", "test") if "{split}" in self.run else ("",)
        return [self.run.replace("{split}", name) for name in names]


AnyRetriever = Annotated[
    Bm25Retriever
    | DenseRetriever
    | CheckpointRetriever
    | RunRetriever
    | TrainedRetriever
    | GivenRuns,
    Field(discriminator="kind"),
]
