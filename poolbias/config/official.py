"""Official collections: MS MARCO, TREC Deep Learning, DuReader_retrieval, and DPR's files.

What each file holds and how results are judged officially is told in docs/collections.md.
"""

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field

from poolbias.config.base import unit
from poolbias.config.given import Given

PassageSet = Literal["dev-small", "trec-dl-2019", "trec-dl-2020"]
DocumentSet = Literal["dev", "trec-dl-2019", "trec-dl-2020"]
DeepSet = Literal["trec-dl-2019", "trec-dl-2020"]
ESTIMATION = (
    "Deeply judged queries that join dev, so that `rance` can estimate P(r) on queries that are "
    "not tested; null is none."
)
PASSAGES = "psgs_w100.tsv.gz"
CHECK = "Whether counts must be those of the official files; false for a part of them."


def years_of(sets: Sequence[str]) -> list[str]:
    """Return the sets of TREC Deep Learning."""
    return [name for name in sets if name.startswith("trec-")]


def shards_field(default: int) -> Any:
    """Return the field `shards` with a default for collections of this size (our choice)."""
    return Field(
        default,
        ge=1,
        exclude=True,
        description="Jobs that tokenise the documents side by side.",
        json_schema_extra=unit("jobs"),
    )


class MsMarco(Given):
    """What passages and documents of MS MARCO have in common: sets that were pooled deeply."""

    test: Any
    estimation: DeepSet | None

    @property
    def deep(self) -> dict[str, list[str]]:
        """The sets that were pooled deeply."""
        return {"test": years_of(self.test), "dev": self.dev_sets}

    @property
    def dev_sets(self) -> list[str]:
        """The set that RANCE's estimate is made on, unless it is tested."""
        return [self.estimation] if self.estimation and self.estimation not in self.test else []


class MsMarcoPassage(MsMarco):
    """MS MARCO passages, with the dev queries and those of TREC Deep Learning."""

    kind: Literal["msmarco-passage"] = Field(
        "msmarco-passage", description="The module that builds the collection."
    )
    test: list[PassageSet] = Field(
        ["dev-small", "trec-dl-2019"],
        min_length=1,
        description="Sets of test queries; tables show each as a collection of its own.",
    )
    estimation: DeepSet | None = Field("trec-dl-2020", description=ESTIMATION)
    repair: Literal["none", "mojibake"] = Field(
        "mojibake", description="Repair UTF-8 that was read as Windows-1252, or leave texts."
    )
    check: bool = Field(True, description=CHECK)
    shards: int = shards_field(16)

    @property
    def sets(self) -> dict[str, str]:
        """The sets of test queries by the names that the paper's tables give them."""
        names = {"dev-small": "msmarco-passage/dev"}
        return {name: names.get(name, f"{name}-passage") for name in self.test}

    @property
    def relevant_from(self) -> dict[str, int]:
        """Passages of TREC Deep Learning count as relevant from grade 2 (the track's rule)."""
        return {"trec-dl-2019": 2, "trec-dl-2020": 2}

    @property
    def sources(self) -> list[str]:
        """The official files."""
        files = ["collectionandqueries.tar.gz/"]
        for year in [name[-4:] for name in years_of([*self.test, *self.dev_sets])]:
            files += [f"msmarco-test{year}-queries.tsv.gz", f"{year}qrels-pass.txt"]
        return files


class MsMarcoDocument(MsMarco):
    """MS MARCO documents, with the dev queries and those of TREC Deep Learning."""

    kind: Literal["msmarco-document"] = Field(
        "msmarco-document", description="The module that builds the collection."
    )
    test: list[DocumentSet] = Field(
        ["dev", "trec-dl-2019"],
        min_length=1,
        description="Sets of test queries; tables show each as a collection of its own.",
    )
    estimation: DeepSet | None = Field("trec-dl-2020", description=ESTIMATION)
    fields: list[Literal["url", "title", "body"]] = Field(
        ["url", "title", "body"],
        min_length=1,
        description="Parts of a document that make its text, in this order. Rankers read its "
        "beginning (FirstP).",
    )
    separator: str = Field(
        " ", description="What stands between two parts (the paper does not say; our choice)."
    )
    characters: int | None = Field(
        10_000,
        ge=1,
        description="Characters kept of a document (ANCE keeps 10,000), or null for all.",
        json_schema_extra=unit("characters"),
    )
    repair: Literal["none", "mojibake"] = Field(
        "none", description="Repair UTF-8 that was read as Windows-1252, or leave texts."
    )
    check: bool = Field(True, description=CHECK)
    shards: int = shards_field(32)

    @property
    def sets(self) -> dict[str, str]:
        """The sets of test queries by the names that the paper's tables give them."""
        names = {"dev": "msmarco-document/dev"}
        return {name: names.get(name, f"{name}-document") for name in self.test}

    @property
    def sources(self) -> list[str]:
        """The official files."""
        files = ["msmarco-docs.trec.gz"]
        for split in ("train", *(["dev"] if "dev" in self.test else [])):
            files += [f"msmarco-doc{split}-queries.tsv.gz", f"msmarco-doc{split}-qrels.tsv.gz"]
        for year in [name[-4:] for name in years_of([*self.test, *self.dev_sets])]:
            files += [f"msmarco-test{year}-queries.tsv.gz", f"{year}qrels-docs.txt"]
        return files


class DuReaderCollection(Given):
    """DuReader_retrieval: Chinese passages; dev is tested, since the test labels are hidden."""

    kind: Literal["dureader-retrieval"] = Field(
        "dureader-retrieval", description="The module that builds the collection."
    )
    check: bool = Field(True, description=CHECK)
    shards: int = shards_field(16)

    @property
    def sets(self) -> dict[str, str]:
        """The dev queries, by the name that the paper's table gives them."""
        return {"dev": "dureader-retrieval/dev"}

    @property
    def deep(self) -> dict[str, list[str]]:
        """Its dev queries, which the paper takes as pooled deeply (4.93 labels each on average)."""
        return {"test": ["dev"]}

    @property
    def sources(self) -> list[str]:
        """The official archive."""
        return ["dureader-retrieval-baseline-dataset.tar.gz/"]


class DprCollection(Given):
    """What the collections of DPR's files have in common; their dev queries are tested."""

    positives: Literal["first", "all"] = Field(
        "first", description="Labels of a query: the first of its positive contexts, or all."
    )
    check: bool = Field(True, description=CHECK)
    shards: int = shards_field(32)


class NaturalQuestions(DprCollection):
    """Natural Questions on DPR's Wikipedia passages; dev is tested."""

    kind: Literal["nq"] = Field("nq", description="The module that builds the collection.")

    @property
    def sources(self) -> list[str]:
        """The official files."""
        return [PASSAGES, "biencoder-nq-train.json.gz", "biencoder-nq-dev.json.gz"]


class TriviaQa(DprCollection):
    """TriviaQA on DPR's Wikipedia passages; dev is tested."""

    kind: Literal["triviaqa"] = Field(
        "triviaqa", description="The module that builds the collection."
    )

    @property
    def sources(self) -> list[str]:
        """The official files."""
        return [PASSAGES, "biencoder-trivia-train.json.gz", "biencoder-trivia-dev.json.gz"]


class MsPas(Given):
    """MS MARCO passages with titles, in RocketQA's files, which you have in a folder."""

    kind: Literal["ms-pas"] = Field("ms-pas", description="The module that builds the collection.")
    folder: str = Field(
        description="Folder with para.txt, para.title.txt, train.query.txt, dev.query.txt, "
        "qrels.train.tsv and qrels.dev.tsv."
    )
    additional: bool = Field(
        False, description="Whether the literal matches of qrels.train.addition.tsv are labels too."
    )
    separator: str = Field(" ", description="What stands between title and text.")
    check: bool = Field(True, description=CHECK)
    shards: int = shards_field(16)

    @property
    def sets(self) -> dict[str, str]:
        """The dev queries."""
        return {"dev": "ms-pas/dev"}

    @property
    def files(self) -> dict[str, str]:
        """The files by what each is."""
        names = ["para.txt", "para.title.txt", "train.query.txt", "dev.query.txt"]
        names += ["qrels.train.tsv", "qrels.dev.tsv"]
        names += ["qrels.train.addition.tsv"] if self.additional else []
        return {name: f"{self.folder}/{name}" for name in names}
