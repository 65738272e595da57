"""Runs that nobody searches for: official files, and the user's."""

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from poolbias.config.base import readable, unit
from poolbias.config.base_retriever import Expected, Retriever, expected_field
from poolbias.config.problems import Problem

# What the organisers' runs are, by the collection's kind.
OFFICIAL = {"msmarco-passage": "bm25-top1000", "msmarco-document": "indri-top100"}
RANKED = {"bm25-top1000": False, "indri-top100": True}


class GivenRuns(Retriever):
    """Runs from files: the organisers', or those of a folder of yours."""

    kind: Literal["given"] = Field("given", description="The module that retrieves.")
    official: bool = Field(
        False,
        description="The organisers' runs: of MS MARCO's passages top1000 (BM25, in random order, "
        "without ranks), of its documents top100 (Indri's query likelihood, which the paper calls "
        "BM25).",
    )
    folder: str | None = Field(
        None,
        description="Folder with `<kind of the collection>.<any name>`: TREC runs (.run, .trec) or "
        "lines of query, document, rank (.tsv), plain or .gz.",
    )
    depth: int = Field(
        1000,
        ge=1,
        description="Documents kept per query.",
        json_schema_extra=unit("documents"),
    )
    expected: Expected | None = expected_field()

    @property
    def label(self) -> str:
        """The readable part of the folders of its runs."""
        return "official" if self.official else f"given-{readable(self.folder or '')}"


def name_of(retriever: GivenRuns, kind: str) -> str:
    """Return what a run is, as its files and manifests say it: `official-indri-top100`.

    Args:
        retriever: the section.
        kind: the collection's.
    """
    return f"official-{OFFICIAL[kind]}" if retriever.official else retriever.label


def is_ranked(retriever: GivenRuns, kind: str) -> bool:
    """Return whether the documents of a run have ranks."""
    return not retriever.official or RANKED[OFFICIAL[kind]]


def sources(kind: str, sets: list[str]) -> list[str]:
    """Return the organisers' files, for the training queries and some sets of others.

    Args:
        kind: the collection's.
        sets: its sets of queries besides those for training.
    """
    years = [name[-4:] for name in sets if name.startswith("trec-")]
    if OFFICIAL[kind] == "bm25-top1000":
        dev = ["top1000.dev.tar.gz"] if "dev-small" in sets else []
        deep = [f"msmarco-passagetest{year}-top1000.tsv.gz" for year in years]
        return ["top1000.train.tar.gz", *dev, *deep]
    dev = ["msmarco-docdev-top100.gz"] if "dev" in sets else []
    # No such file of 2020 is in our list of official files.
    deep = [f"msmarco-doctest{year}-top100.gz" for year in years if year == "2019"]
    return ["msmarco-doctrain-top100.gz", *dev, *deep]


def check(name: str, retriever: GivenRuns) -> Iterator[Problem]:
    """Yield what is wrong with a run's section by itself."""
    if retriever.official == (retriever.folder is not None):
        yield Problem(
            ("retrievers", name),
            "found both official and folder, or neither, need one of them; correct it.",
        )
