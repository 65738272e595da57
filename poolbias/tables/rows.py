"""Which rows a table has: what the study holds, in one order, and what it does not, by reason.

The rules are the same for every study. Pools of a study are blocks of their own. Within a block
retrievers stand as the study names them, BM25's first. Within a retriever methods stand as
`METHODS` lists them, every setting of a method that the study holds as a row. A method that the
study does not hold stands as `not run` in the first block, under each retriever but BM25's, where
the paper has the naive ranker alone.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

import pandas as pd

NAIVE, CET, RUN = "naive", "cet", "run"
# As in the paper's Table 1, its own method last; before it others, which the paper does not have.
FIRST = ("naive", "zhan", "rocketqa", "dml", "rance")
OTHERS = ("random", "sieve", "percpos", "margin", "simans", "cet_listwise")
NEED_TRUTH = ("oracle", "oracle_matched", "ideal_propensity")
METHODS = (*FIRST, *OTHERS, CET, *NEED_TRUTH)
TABLE_3 = ("naive", "dml", "rance", "rocketqa", CET)
# The paper's rankers, and why a study that lacks one may do so besides leaving it out.
RANKERS = {
    "bert": "",
    "prop": "its weights need a download",
    "cedr_knrm": "",
    "parade_max": "",
}


@dataclass(frozen=True)
class Row:
    """A ranked system, all its seeds, or one that is not there.

    Attributes:
        collection: its folder's name.
        pool: the pool whose labels trained it.
        retriever: whose run is re-ranked.
        name: the bare method.
        method: the method with its options.
        ranker: the ranker.
        experiment: its folder's name.
        changed: settings of its training that are not the study's, in words.
        chosen: whether its settings were chosen on dev.
        reason: why it is not there.
    """

    collection: str
    pool: str
    retriever: str
    name: str
    method: str
    ranker: str
    experiment: str = ""
    changed: str = ""
    chosen: bool = False
    reason: str = ""

    @property
    def options(self) -> str:
        """What the method's label says beside its name (`paper-tau1` of `cet-paper-tau1`)."""
        return self.method.removeprefix(self.name).removeprefix("-")

    @property
    def setting(self) -> str:
        """The method with its options, and how its training differs from the study's."""
        return f"{self.method} ({self.changed})" if self.changed else self.method

    @property
    def block(self) -> tuple[str, str]:
        """The collection and pool, whose rows stand together."""
        return self.collection, self.pool

    @property
    def place(self) -> tuple[str, str, str, str]:
        """What systems share that are compared with each other: block, retriever and ranker."""
        return *self.block, self.retriever, self.ranker


def held(
    frame: pd.DataFrame,
    changed: Mapping[str, str] | None = None,
    chosen: Set[str] = frozenset(),
) -> list[Row]:
    """Return the systems of a frame in the order in which they come.

    Args:
        frame: columns of `poolbias.evaluation.per_query.SYSTEM`.
        changed: by experiment the settings of its training that are not the study's, in words.
        chosen: experiments whose settings were chosen on dev.
    """
    names = ["collection", "pool", "retriever", "name", "method", "ranker", "experiment"]
    found = frame[names].drop_duplicates()
    return [
        Row(
            **{str(name): str(value) for name, value in row.items()},
            changed=(changed or {}).get(row["experiment"], ""),
            chosen=row["experiment"] in chosen,
        )
        for row in found.to_dict("records")
    ]


def method_rows(
    rows: Sequence[Row],
    *,
    ranker: str,
    lexical: Collection[str],
    reason: str,
    methods: Sequence[str] = METHODS,
    only: bool = False,
) -> list[Row]:
    """Return the rows of a table of methods, one ranker's.

    Args:
        rows: every system of the study, runs among them.
        ranker: the ranker that the table is about.
        lexical: retrievers under which methods that were not run are not listed.
        reason: why a row was not run.
        methods: methods in their order; others of the study follow before those that need truth.
        only: whether other methods than `methods` are left out.
    """
    chosen: list[Row] = []
    blocks = list(dict.fromkeys(row.block for row in rows))
    for block in blocks:
        here = [row for row in rows if row.block == block]
        for retriever in _retrievers(here, lexical):
            held_here = [
                row
                for row in here
                if (row.retriever, row.ranker) == (retriever, ranker) and row.name != RUN
            ]
            expected: Sequence[str] = ()
            if block == blocks[0]:
                expected = (NAIVE,) if retriever in lexical else methods
            names = methods if only else _with_others(methods, held_here)
            for name in names:
                found = [row for row in held_here if row.name == name]
                missing = Row(*block, retriever, name, name, ranker, reason=reason)
                chosen += found or ([missing] if name in expected else [])
    return chosen


def ranker_rows(
    rows: Sequence[Row],
    reasons: Mapping[str, str],
    *,
    lexical: Collection[str],
    reason: str,
) -> list[Row]:
    """Return the rows of a table of rankers: each without and with CET, per retriever.

    Args:
        rows: every system of the study, runs among them.
        reasons: the paper's rankers that the study may lack, with the reason of each.
        lexical: as in `method_rows`.
        reason: why a method of a ranker that the study holds was not run.
    """
    chosen: list[Row] = []
    blocks = list(dict.fromkeys(row.block for row in rows))
    ours = dict.fromkeys(row.ranker for row in rows if row.name != RUN)
    missing_rankers = sorted(reasons, key=[*RANKERS, *reasons].index)  # JSON keeps no order
    for block in blocks:
        here = [row for row in rows if row.block == block]
        for retriever in _retrievers(here, lexical):
            complete = block == blocks[0] and retriever not in lexical
            for ranker in dict.fromkeys([*ours, *missing_rankers]):
                for name in (NAIVE, CET):
                    place = (*block, retriever, ranker)
                    found = [row for row in here if row.place == place and row.name == name]
                    why = reason if ranker in ours else reasons[ranker]
                    missing = Row(*block, retriever, name, name, ranker, reason=why)
                    chosen += found or ([missing] if complete else [])
    return chosen


def run_rows(rows: Sequence[Row], lexical: Collection[str]) -> list[Row]:
    """Return the runs among the rows, block by block, BM25's first.

    Args:
        rows: every system of the study.
        lexical: retrievers that are BM25.
    """
    blocks = list(dict.fromkeys(row.block for row in rows))
    runs = [row for row in rows if row.name == RUN]
    return sorted(runs, key=lambda row: (blocks.index(row.block), row.retriever not in lexical))


def strong(rows: Sequence[Row], lexical: Collection[str]) -> str:
    """Return the first retriever that is not BM25's, or nothing."""
    return next((row.retriever for row in rows if row.retriever not in lexical), "")


def _retrievers(rows: Sequence[Row], lexical: Collection[str]) -> list[str]:
    return sorted(
        dict.fromkeys(row.retriever for row in rows), key=lambda name: name not in lexical
    )


def _with_others(methods: Sequence[str], rows: Sequence[Row]) -> Iterator[str]:
    """Yield the methods, and those that only these rows have before CET."""
    others = [name for name in dict.fromkeys(row.name for row in rows) if name not in methods]
    for name in methods:
        if name == CET:
            yield from others
        yield name
