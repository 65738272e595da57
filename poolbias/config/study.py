"""The study file as a whole: what is made, what is measured, what is shown."""

from typing import Annotated, Any, Literal

from pydantic import Field

from poolbias.config.base import NONE, Section, unit
from poolbias.config.model import AnyRetriever, BertRanker, HpoCollection, Name, Pool, Training


class Evaluation(Section):
    """What is re-ranked and measured."""

    depth: int = Field(
        100,
        ge=1,
        description="Documents of a run that are re-ranked.",
        json_schema_extra=unit("documents per query"),
    )
    measures: list[str] = Field(
        ["RR@10", "RR@100", "nDCG@10", "nDCG@100", "R@10", "R@100"],
        min_length=1,
        description="Measures as ir-measures spells them.",
    )
    split: Literal["dev", "test"] = Field("test", description="Queries that results are about.")


class Probe(Section):
    """The analysis of what the coupled weights do (the paper's Figure 5)."""

    steps: list[Annotated[int, Field(ge=1)]] = Field(
        [],
        description="Steps at which R and S are kept, for coupled methods.",
        json_schema_extra=unit("steps"),
    )


class Figure1(Section):
    """Retrievers side by side: their recall, and the naive ranker trained and tested on them."""

    retrievers: list[str] = Field(["bm25", "dense"], min_length=1, description="Retrievers shown.")
    recall_cut: int = Field(
        100, ge=1, description="Depth k of recall@k.", json_schema_extra=unit("ranks")
    )
    shares_depths: list[Annotated[int, Field(ge=1)]] = Field(
        [10, 20, 50, 100],
        min_length=1,
        description="Depths at which the share of false negatives is counted.",
        json_schema_extra=unit("ranks"),
    )


class Figures(Section):
    """What each figure shows."""

    figure_1: Figure1 = Field(Figure1(), description="Recall beside the ranker's MRR@10.")


class Study(Section):
    """A study file, complete by itself."""

    study: Name = Field(description="Name of the study; its results go to results/<study>/.")
    device: Literal["cpu", "cuda"] = Field(
        "cpu", description="Where models run; a job that does not find it stops."
    )
    precision: Literal["bf16", "float32"] = Field("bf16", description="Arithmetic of the encoder.")
    threads: int = Field(
        1,
        ge=1,
        description="Threads of a job that runs models; results depend on it.",
        json_schema_extra=unit("threads"),
    )
    seeds: list[Annotated[int, Field(ge=0)]] = Field(
        [1],
        min_length=1,
        description="One training per experiment and seed.",
        json_schema_extra=unit(NONE),
    )
    collections: dict[Name, HpoCollection] = Field(min_length=1, description="Collections by name.")
    retrievers: dict[Name, AnyRetriever] = Field(min_length=1, description="Retrievers by name.")
    pools: dict[Name, Pool] = Field(min_length=1, description="Pools of annotators by name.")
    rankers: dict[Name, BertRanker] = Field(min_length=1, description="Rankers by name.")
    training: Training = Field(description="Settings of every training.")
    evaluation: Evaluation = Field(description="What is re-ranked and measured.")
    probe: Probe = Field(Probe(), description="Analysis of the weights.")
    figures: Figures = Field(Figures(), description="What each figure shows.")
    experiments: list[Any] = Field(
        min_length=1,
        description="Rankers to train; a list in a value stands for each of its items.",
    )
