"""Collections that come with judgements of their own: official ones, and the user's files."""

from pathlib import Path
from typing import Literal

from pydantic import Field

from poolbias.config.base import NONE, Section, readable, unit
from poolbias.config.model import Shares

QUERIES = unit("queries")


class Given(Section):
    """What collections with judgements of their own have in common; their pool is `retrievers: []`.

    Their training judgements are sparse unless `complete` says otherwise: what is not judged is
    then not known to be irrelevant.
    """

    kind: str
    judged_irrelevant: Literal["negatives", "left_out"] = Field(
        "negatives",
        description="Documents judged irrelevant for a training query (the paper's D⁻): drawn as "
        "negatives like those not judged, or never.",
    )
    held_out: int = Field(
        200,
        ge=1,
        description="Training queries kept for dev (seeded) where the files have no dev queries.",
        json_schema_extra=QUERIES,
    )
    training_queries: int | None = Field(
        None,
        ge=1,
        description="Cut the training queries to so many (seeded); null keeps all.",
        json_schema_extra=QUERIES,
    )
    seed: int = Field(
        1, ge=0, description="Seed of what is kept and held out.", json_schema_extra=unit(NONE)
    )
    # Not what is made, but how much of it is looked at: no part of any name or hash.
    reranked: int | None = Field(
        None,
        ge=1,
        exclude=True,
        description="Documents of a run that are re-ranked here; null is evaluation.depth.",
        json_schema_extra=unit("documents per query"),
    )
    # How many jobs tokenise it says nothing about the tokens: no part of any name or hash.
    shards: int = Field(
        1,
        ge=1,
        exclude=True,
        description="Jobs that tokenise the documents side by side.",
        json_schema_extra=unit("jobs"),
    )

    @property
    def knows_truth(self) -> bool:
        """Whether all that is relevant to a query is judged."""
        return bool(getattr(self, "complete", False))

    @property
    def sets(self) -> dict[str, str]:
        """The sets of test queries, each with the name under which tables show it; none if one."""
        return {}

    @property
    def relevant_from(self) -> dict[str, int]:
        """The grade from which a document counts as relevant in measures by labels, by set."""
        return {}

    @property
    def deep(self) -> dict[str, list[str]]:
        """The sets judged so deeply that ranks' relevance can be estimated on them, by split."""
        return {}

    @property
    def dev_sets(self) -> list[str]:
        """Sets of queries that join dev: nothing but estimates is made on them."""
        return []

    @property
    def sources(self) -> list[str]:
        """The official files that it is made from; with a slash at its end an unpacked archive."""
        return []


class OwnFiles(Given):
    """What collections of the user's files have in common."""

    relevant: int = Field(
        1,
        ge=1,
        description="Grade from which a document is a label (and relevant in measures by labels).",
        json_schema_extra=unit("grade"),
    )
    complete: bool = Field(
        False,
        description="Whether every relevant document of every query is judged, so that methods "
        "that need the truth can be run.",
    )
    draw: bool = Field(
        False,
        description="Draw train, dev and test among the test queries, where there are no others.",
    )
    shares: Shares = Field(Shares(), description="Sizes of train, dev and test, if drawn.")
    repair: Literal["none", "mojibake"] = Field(
        "none", description="Repair UTF-8 that was read as Windows-1252 (`â€™`), or leave texts."
    )

    @property
    def relevant_from(self) -> dict[str, int]:
        """The grade from which a document counts as relevant, whatever the set."""
        return {"": self.relevant}


class BeirCollection(OwnFiles):
    """A folder in BEIR's layout: corpus.jsonl, queries.jsonl and qrels/<split>.tsv."""

    kind: Literal["beir"] = Field("beir", description="The module that builds the collection.")
    folder: str = Field(description="The folder; files in it may be compressed (.gz).")
    prefix: str = Field(
        "", description="`<prefix>-queries.jsonl` and `<prefix>-qrels/` in place of the plain ones."
    )
    train: str = Field("train", description="Name of the training judgements, without .tsv.")
    dev: str = Field("dev", description="Name of the dev judgements; none there: held_out.")
    test: str = Field("test", description="Name of the test judgements.")
    separator: str = Field(" ", description="What stands between a title and a text.")

    @property
    def label(self) -> str:
        """The readable part of the folders of its results."""
        return f"beir-{readable(self.folder)}"

    @property
    def files(self) -> dict[str, str]:
        """The files that must be there, and those that may be (`?`), by what each is."""
        stem = f"{self.prefix}-" if self.prefix else ""
        qrels = f"{self.folder}/{stem}qrels"
        return {
            "documents": f"{self.folder}/corpus.jsonl",
            "queries": f"{self.folder}/{stem}queries.jsonl",
            "train?": f"{qrels}/{self.train}.tsv",
            "dev?": f"{qrels}/{self.dev}.tsv",
            "test": f"{qrels}/{self.test}.tsv",
        }


class FilesCollection(OwnFiles):
    """Files of your own: documents, queries, and judgements of each split."""

    kind: Literal["files"] = Field("files", description="The module that builds the collection.")
    documents: list[str] = Field(
        min_length=1, description="Files of documents: .tsv, .jsonl or .trec, plain or .gz."
    )
    queries: list[str] = Field(
        min_length=1, description="Files of queries: .tsv, .jsonl or .trec, plain or .gz."
    )
    train: str | None = Field(
        None, description="Training judgements: TREC qrels or BEIR's tsv; null with `draw`."
    )
    dev: str | None = Field(None, description="Dev judgements; null takes held_out.")
    test: str = Field(description="Test judgements.")

    @property
    def label(self) -> str:
        """The readable part of the folders of its results."""
        return f"files-{readable(str(Path(self.documents[0]).parent))}"

    @property
    def files(self) -> dict[str, str]:
        """The files by what each is; several of one kind are numbered."""
        named = {f"documents{n}": path for n, path in enumerate(self.documents)}
        named |= {f"queries{n}": path for n, path in enumerate(self.queries)}
        splits = {"train": self.train, "dev": self.dev, "test": self.test}
        return named | {name: path for name, path in splits.items() if path}


class IrDatasetsCollection(OwnFiles):
    """Any collection of the package ir_datasets, which must be installed (it is optional)."""

    kind: Literal["ir_datasets"] = Field(
        "ir_datasets", description="The module that builds the collection."
    )
    train: str | None = Field(None, description="Id with the training judgements, or null.")
    dev: str | None = Field(None, description="Id with the dev judgements, or null.")
    test: str = Field(description="Id with documents, test queries and judgements.")

    @property
    def label(self) -> str:
        """The readable part of the folders of its results."""
        return f"irds-{readable(self.test.replace('/', '-'))}"
