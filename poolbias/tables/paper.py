"""The paper's values beside ours: which of its rows and columns a table shows.

A study on a collection of the paper shows that collection's values, system by system. On any other
nothing of the paper's is the same system, so all columns of the paper's table stand there under the
paper's own names: its rows on BM25 beside ours on BM25, and those on its stronger retriever beside
our first stronger one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from poolbias.errors import DataError
from poolbias.tables.render import Cell, Heading

COLUMNS = ["place", "collection", "system", "measure", "value", "marks", "status"]
LEXICAL = "bm25"
_NAMES = {
    "msmarco-passage/dev": "MS MARCO passage",
    "msmarco-document/dev": "MS MARCO document",
    "trec-dl-2019-passage": "DL 2019 passage",
    "trec-dl-2019-document": "DL 2019 document",
    "dureader-retrieval/dev": "DuReader_retrieval",
}
_RETRIEVERS = {"bm25": "BM25", "ance": "ANCE", "de": "DE"}
_MARKS = {"dagger": "†", "ddagger": "‡"}
_MEASURES = {"MRR": "RR", "Recall": "R"}


@dataclass(frozen=True)
class Paper:
    """A table of the paper: its values by collection, measure and system (`ance cet`)."""

    place: str
    collections: tuple[tuple[str, str], ...]  # (collection, measure), a column each
    values: dict[tuple[str, str, str], tuple[str, str]]  # value and marks as printed
    same: bool  # whether the study's collection is the paper's

    @property
    def stronger(self) -> str:
        """The paper's retriever that is not BM25."""
        names = {system.split()[0] for _, _, system in self.values} - {LEXICAL}
        return min(names, default="")

    def headings(self) -> tuple[Heading, ...]:
        """Return a heading per column of the paper's."""
        retrievers = f"{_RETRIEVERS['bm25']}, {_RETRIEVERS.get(self.stronger, self.stronger)}"
        return tuple(
            Heading(measure, f"paper, {_NAMES.get(collection, collection)} ({retrievers})")
            for collection, measure in self.collections
        )

    def system(self, retriever: str, rest: str, strong: str) -> str:
        """Return the paper's name of the system that stands beside ours, or nothing.

        Args:
            retriever: our retriever.
            rest: what follows the retriever in the paper's name (`cet`, `naive bert`, nothing).
            strong: our retriever beside which the paper's stronger one stands.
        """
        if not self.same:
            retriever = {LEXICAL: LEXICAL, strong: self.stronger}.get(retriever, "")
        return f"{retriever} {rest}".strip() if retriever else ""

    def cells(self, system: str, collection: str) -> tuple[Cell, ...]:
        """Return the paper's values of one of its systems, `–` where it has none.

        Args:
            system: the paper's name of the system, or nothing.
            collection: the study's collection; where the paper has it, only its values are shown.
        """
        return tuple(
            self.cell(name, measure, system)
            if not self.same or name.partition("/")[0] == collection.partition("/")[0]
            else Cell("–")
            for name, measure in self.collections
        )

    def cell(self, collection: str, measure: str, system: str) -> Cell:
        """Return one value of the paper with its marks, or `–`."""
        value, marks = self.values.get((collection, measure, system), ("–", ""))
        kinds = [mark.partition("(")[0] for mark in marks.split(",")]
        return Cell(value, "bold" in kinds, "".join(_MARKS.get(kind, "") for kind in kinds))


def read_paper(paper: pd.DataFrame, place: str, collections: Sequence[str], split: str) -> Paper:
    """Return one of the paper's tables, cut to the study's collections if the paper has them.

    Args:
        paper: columns of `config/paper_tables.tsv`.
        place: the table's place, such as `Table 1`.
        collections: names of the study's collections.
        split: the study's split; `msmarco-passage/dev` is split `dev` of `msmarco-passage`.

    Raises:
        DataError: if the paper has no value at that place.
    """
    rows = paper[(paper["place"] == place) & (paper["value"] != "")]
    if rows.empty:
        raise DataError(f"paper tables: no row has the place {place!r}; restore the file.")
    ours = {*collections, *(f"{name}/{split}" for name in collections)}
    same = bool(rows["collection"].isin(ours).any())
    rows = rows[rows["collection"].isin(ours)] if same else rows
    columns = dict.fromkeys(zip(rows["collection"], rows["measure"], strict=True))
    values = {
        (str(row["collection"]), str(row["measure"]), str(row["system"])): (
            str(row["value"]),
            str(row["marks"]),
        )
        for row in rows.to_dict("records")
    }
    return Paper(place, tuple((str(c), str(m)) for c, m in columns), values, same)


def spelled(measure: str) -> str:
    """Return a measure of the paper's tables as ir-measures spells it (`MRR@10` is `RR@10`)."""
    name, _, cut = measure.partition("@")
    return f"{_MEASURES.get(name, name)}@{cut}"
