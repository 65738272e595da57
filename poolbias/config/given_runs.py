"""Runs that nobody searches for: official files, and the user's."""

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from poolbias.config.base import Section, readable, unit
from poolbias.config.problems import Problem

OFFICIAL = {"bm25-top1000": "msmarco-passage", "indri-top100": "msmarco-document"}


class RunRetriever(Section):
    """Runs from files: official ones, or those of a folder of yours."""

    kind: Literal["run"] = Field("run", description="The module that retrieves.")
    official: Literal["bm25-top1000", "indri-top100"] | None = Field(
        None,
        description="bm25-top1000: MS MARCO's passages of top1000 (in random order, without "
        "ranks). indri-top100: its documents of top100 (Indri's query likelihood, with ranks; the "
        "paper's BM25 on documents). Null takes `folder`.",
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

    @property
    def ranked(self) -> bool:
        """Whether its documents have ranks."""
        return self.official != "bm25-top1000"

    @property
    def label(self) -> str:
        """The readable part of the folders of its runs."""
        return f"official-{self.official}" if self.official else f"run-{readable(self.folder or '')}"


def sources(retriever: RunRetriever, sets: list[str]) -> list[str]:
    """Return the official files of a run, for the training queries and some sets of test queries.

    Args:
        retriever: an official run.
        sets: the collection's sets of test queries.
    """
    years = [name[-4:] for name in sets if name.startswith("trec-")]
    if retriever.official == "bm25-top1000":
        dev = ["top1000.dev.tar.gz"] if "dev-small" in sets else []
        deep = [f"msmarco-passagetest{year}-top1000.tsv.gz" for year in years]
        return ["top1000.train.tar.gz", *dev, *deep]
    dev = ["msmarco-docdev-top100.gz"] if "dev" in sets else []
    deep = [f"msmarco-doctest{year}-top100.gz" for year in years]
    return ["msmarco-doctrain-top100.gz", *dev, *deep]


def check(name: str, retriever: RunRetriever) -> Iterator[Problem]:
    """Yield what is wrong with a run's section by itself."""
    if (retriever.official is None) == (retriever.folder is None):
        yield Problem(
            ("retrievers", name),
            "found both official and folder, or neither, need one of them; correct it.",
        )
