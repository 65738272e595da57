"""The typed model of a study file; the default file, the schema and the docs come from it."""

from typing import Annotated, Any, Literal

from pydantic import Field

from poolbias.config.base import Section

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_+-]*$")]
Share = Annotated[float, Field(gt=0, lt=1)]


class Shares(Section):
    """How queries are split, as shares of the terms (or branches); they add up to 1."""

    train: Share = Field(0.7, description="Share for training.")
    dev: Share = Field(0.1, description="Share for choosing settings.")
    test: Share = Field(0.2, description="Share for the results.")


class HpoCollection(Section):
    """The Human Phenotype Ontology: definitions as documents, names and synonyms as queries."""

    kind: Literal["hpo"] = Field("hpo", description="The module that builds the collection.")
    split: Literal["term", "branch"] = Field(
        "term", description="Keep all queries of a term, or of a whole branch, in one split."
    )
    kinds: list[Literal["layperson", "name"]] = Field(
        ["layperson", "name"], min_length=1, description="Queries: layperson synonyms, names."
    )
    minimum_relevant: int = Field(5, ge=1, description="Fewest relevant documents of a query.")
    maximum_relevant: int = Field(200, ge=1, description="Most relevant documents of a query.")
    root: str = Field(
        "HP:0000001", description="Term whose part of the ontology is used; the default is all."
    )
    maximum_queries: int | None = Field(
        None, ge=3, description="Cut to about so many queries (seeded by term); null keeps all."
    )
    shares: Shares = Field(Shares(), description="Sizes of train, dev and test.")
    seed: int = Field(1, ge=0, description="Seed of the splits.")


class Bm25Retriever(Section):
    """Lucene's BM25 through Anserini."""

    kind: Literal["bm25"] = Field("bm25", description="The module that retrieves.")
    k1: float = Field(0.9, ge=0, description="Saturation of a term's frequency.")
    b: float = Field(0.4, ge=0, le=1, description="Normalisation by document length.")
    documents: Literal["documents", "pool_documents"] = Field(
        "documents",
        description="Texts searched: the documents, or what the annotators' search has.",
    )
    depth: int = Field(200, ge=1, description="Documents retrieved per query.")


class DenseRetriever(Section):
    """A bi-encoder; exact inner-product search over all documents."""

    kind: Literal["dense"] = Field("dense", description="The module that retrieves.")
    model: Literal["all-MiniLM-L6-v2"] = Field(
        "all-MiniLM-L6-v2", description="The published bi-encoder, used as it is."
    )
    precision: Literal["bf16", "float32"] = Field(
        "float32", description="Arithmetic of the bi-encoder."
    )
    depth: int = Field(200, ge=1, description="Documents retrieved per query.")


AnyRetriever = Annotated[Bm25Retriever | DenseRetriever, Field(discriminator="kind")]


class Pool(Section):
    """Simulated annotators: what they are shown, and what they label."""

    retrievers: list[str] = Field(
        ["outside"], min_length=1, description="Retrievers whose top results annotators see."
    )
    depth: int = Field(10, ge=1, description="Ranks of each retriever that annotators see.")
    labels_per_query: int | None = Field(
        None, ge=1, description="Most labels of a query; null labels every relevant document seen."
    )
    seed: int = Field(1, ge=0, description="Seed of the choice where labels are limited.")


class BertRanker(Section):
    """A cross-encoder with one logit: pooler, dropout, linear (the paper's Eq. 14)."""

    kind: Literal["bert"] = Field("bert", description="The module of the ranker.")
    start: Literal["all-MiniLM-L6-v2"] = Field(
        "all-MiniLM-L6-v2", description="Published encoder that training starts from."
    )
    layers: int = Field(3, ge=1, description="Lowest layers of the encoder that are kept.")
    dropout: float = Field(0.1, ge=0, lt=1, description="Dropout inside the encoder.")
    head_dropout: float = Field(0.2, ge=0, lt=1, description="Dropout before the last layer.")
    attention: Literal["eager", "sdpa"] = Field("eager", description="Attention implementation.")
    query_tokens: int = Field(16, ge=1, description="Word pieces kept of a query.")
    document_tokens: int = Field(64, ge=1, description="Word pieces kept of a document.")
    sequence_tokens: int | None = Field(
        None, ge=5, description="Word pieces of a whole sequence with its 3 special ones, or null."
    )


class Training(Section):
    """The training loop; the values that are not the paper's are named in docs/differences.md."""

    steps: int = Field(400, ge=1, description="Optimiser steps.")
    pairs: int = Field(32, ge=1, description="(query, positive, negative) triples per step.")
    learning_rate: float = Field(1e-4, gt=0, description="Peak learning rate (paper: 3e-6).")
    betas: list[Annotated[float, Field(ge=0, lt=1)]] = Field(
        [0.9, 0.999], min_length=2, max_length=2, description="AdamW's betas."
    )
    epsilon: float = Field(1e-8, gt=0, description="AdamW's epsilon.")
    weight_decay: float = Field(0.01, ge=0, description="Decay of weights, not biases, LayerNorms.")
    warm_up: float = Field(0.1, ge=0, lt=1, description="Share of the steps that warm up.")
    clip: float = Field(1.0, gt=0, description="Largest norm of a model's gradient.")
    micro_batches: int = Field(
        4, ge=1, description="Parts of like length that a step is scored in (less padding)."
    )


class Evaluation(Section):
    """What is re-ranked and measured."""

    depth: int = Field(100, ge=1, description="Documents of a run that are re-ranked.")
    measures: list[str] = Field(
        ["RR@10", "RR@100", "nDCG@10", "nDCG@100", "R@10", "R@100"],
        min_length=1,
        description="Measures as ir-measures spells them.",
    )
    split: Literal["dev", "test"] = Field("test", description="Queries that results are about.")


class Probe(Section):
    """The analysis of what the coupled weights do (the paper's Figure 5)."""

    steps: list[Annotated[int, Field(ge=1)]] = Field(
        [], description="Steps at which R and S are kept, for coupled methods."
    )


class Figure1(Section):
    """Retrievers side by side: their recall, and the naive ranker trained and tested on them."""

    retrievers: list[str] = Field(["bm25", "dense"], description="Retrievers shown.")
    recall_cut: int = Field(100, ge=1, description="k of recall@k.")
    shares_depths: list[Annotated[int, Field(ge=1)]] = Field(
        [10, 20, 50, 100], description="Depths at which the share of false negatives is counted."
    )


class Figures(Section):
    """What each figure shows."""

    figure_1: Figure1 = Field(Figure1(), description="Recall beside the ranker's MRR@10.")


class Study(Section):
    """A study file, complete by itself."""

    study: Name = Field(description="Name of the study; its results go to results/<study>/.")
    device: Literal["cpu", "cuda"] = Field(
        "cpu", description="Where models run; a job stops without it."
    )
    precision: Literal["bf16", "float32"] = Field("bf16", description="Arithmetic of the encoder.")
    threads: int = Field(2, ge=1, description="Threads of a job that runs models.")
    seeds: list[Annotated[int, Field(ge=0)]] = Field(
        [1], min_length=1, description="One training per experiment and seed."
    )
    collections: dict[Name, HpoCollection] = Field(description="Collections by name.")
    retrievers: dict[Name, AnyRetriever] = Field(description="Retrievers by name.")
    pools: dict[Name, Pool] = Field(description="Pools of annotators by name.")
    rankers: dict[Name, BertRanker] = Field(description="Rankers by name.")
    training: Training = Field(description="Settings of every training.")
    evaluation: Evaluation = Field(description="What is measured.")
    probe: Probe = Field(Probe(), description="Analysis of the weights.")
    figures: Figures = Field(Figures(), description="What each figure shows.")
    experiments: list[dict[str, Any]] = Field(
        min_length=1,
        description="Rankers to train; a list in a value stands for each of its items.",
    )
