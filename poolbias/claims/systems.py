"""The measured systems of a study, found by what a claim says of them."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from poolbias.claims.verdict import NotRunError
from poolbias.errors import DataError
from poolbias.evaluation.false_negatives import read_shares
from poolbias.evaluation.per_query import read_systems

RUN, CANDIDATES = "run", "candidates"
UNTRAINED = (RUN, CANDIDATES)
EACH, FIRST, STRONGEST, WEAKEST = "each", "first", "strongest", "weakest"
TRUTH = "truth"
_KEYS = ("experiment", "collection", "pool", "retriever", "method", "name", "ranker")


@dataclass(frozen=True)
class Ranked:
    """One ranked thing of a study, all its seeds together; `id` is its place in results."""

    experiment: str
    collection: str
    pool: str
    retriever: str
    method: str
    name: str
    ranker: str
    changed: str = ""  # settings of its training that are not the study's

    @property
    def id(self) -> str:
        """What tells it from all others."""
        return "/".join((self.experiment, self.collection, self.pool, self.retriever, self.method))

    @property
    def trained(self) -> bool:
        """Whether a ranker, and so a seed, is behind it."""
        return self.name not in UNTRAINED


@dataclass
class Store:
    """The systems of a study and their per-query files, read when they are asked for.

    Attributes:
        paths: per-query files (of `candidates`: counts of false negatives).
        systems: what each is of, the keys of `poolbias.evaluation.per_query.SYSTEM`.
        queries: columns `collection`, `query_id`, `group`.
        recall: the measure that orders retrievers, such as `R@100`.
        changed: by experiment the settings of its training that are not the study's, in words.
        pools: by pool the retrievers that fill it.
        chosen: experiments whose settings were chosen on dev.
    """

    paths: Sequence[Path]
    systems: Sequence[Mapping[str, Any]]
    queries: pd.DataFrame
    recall: str = "R@100"
    changed: Mapping[str, str] = field(default_factory=dict)
    pools: Mapping[str, Sequence[str]] = field(default_factory=dict)
    chosen: Collection[str] = ()
    _read: dict[tuple[Ranked, str], pd.DataFrame] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._files: dict[tuple[Ranked, str], list[int]] = {}
        for number, system in enumerate(self.systems):
            told = {name: str(system[name]) for name in _KEYS}
            ranked = Ranked(**told, changed=self.changed.get(told["experiment"], ""))
            self._files.setdefault((ranked, str(system["judgements"])), []).append(number)

    @property
    def collections(self) -> list[str]:
        """The folders' names of the study's collections."""
        return list(dict.fromkeys(ranked.collection for ranked, _ in self._files))

    def find(self, collection: str, chosen: Mapping[str, Any]) -> list[Ranked]:
        """Return the systems of a collection that a claim's `Systems` chooses, in their order.

        Raises:
            NotRunError: saying what the study lacks.
        """
        here = list(dict.fromkeys(r for r, _ in self._files if r.collection == collection))
        names = " or ".join(chosen["method"])
        found = [ranked for ranked in here if ranked.name in chosen["method"]]
        if not found:
            raise NotRunError(f"the study has no {names} on {collection}")
        if chosen["options"]:
            patterns = [re.compile(pattern) for pattern in chosen["options"]]
            found = [r for r in found if any(p.fullmatch(r.method) for p in patterns)]
            _check(found, f"the study has no {' or '.join(chosen['options'])} on {collection}")
        if chosen["training"] == "study":
            found = [ranked for ranked in found if not ranked.changed]
            _check(found, f"the study has no {names} trained with its own settings")
        if chosen["training"] == "chosen":
            found = [ranked for ranked in found if ranked.experiment in self.chosen]
            _check(found, f"no {names} was chosen on dev")
        found = _named(found, "pool", chosen["pool"], first=here[0].pool)
        found = _named(found, "ranker", chosen["ranker"])
        retrievers = self._retrievers(collection, chosen["retriever"], found)
        return [ranked for ranked in found if ranked.retriever in retrievers]

    def frame(self, ranked: Ranked, judgements: str, measure: str) -> pd.DataFrame:
        """Return the columns `query_id`, `group`, `seed` and `value` of a system's measure.

        Raises:
            NotRunError: if it was not measured so.
        """
        numbers = self._files.get((ranked, judgements))
        if not numbers:
            raise NotRunError(f"{spell(ranked)} was not measured by {judgements}")
        if (ranked, judgements) not in self._read:
            read = self._shares if ranked.name == CANDIDATES else self._measures
            self._read[ranked, judgements] = read(numbers)
        rows = self._read[ranked, judgements]
        rows = rows[rows["measure"] == measure]
        if rows.empty:
            raise NotRunError(f"{measure} was not measured for {spell(ranked)}")
        return rows[["query_id", "group", "seed", "value"]].reset_index(drop=True)

    def by_recall(self, collection: str) -> list[str]:
        """Return the retrievers of a collection in ascending order of recall, by truth.

        Where no truth is measured, by labels; equal ones in the order of their names.

        Raises:
            NotRunError: if a run's recall was not measured.
        """
        runs = {
            ranked.retriever: ranked
            for ranked, _ in self._files
            if ranked.collection == collection and ranked.name == RUN
        }
        by_truth = any(
            judgements == TRUTH for r, judgements in self._files if r.collection == collection
        )
        judgements = TRUTH if by_truth else "labels"
        recall = {
            name: float(self.frame(ranked, judgements, self.recall)["value"].mean())
            for name, ranked in runs.items()
        }
        return sorted(recall, key=lambda name: (recall[name], name))

    def _retrievers(
        self, collection: str, names: Sequence[str], found: Sequence[Ranked]
    ) -> list[str]:
        """Return the retrievers that the first name which is there stands for."""
        there = list(dict.fromkeys(ranked.retriever for ranked in found))
        for name in names:
            if name == EACH:
                return there
            if name in (STRONGEST, WEAKEST):
                ordered = [r for r in self.by_recall(collection) if r in there]
                if ordered:
                    return [ordered[-1 if name == STRONGEST else 0]]
            elif name in there:
                return [name]
        raise NotRunError(f"the study has no {found[0].name} on {' or '.join(names)}")

    def _measures(self, numbers: list[int]) -> pd.DataFrame:
        return read_systems(
            [self.paths[n] for n in numbers], [self.systems[n] for n in numbers], self.queries
        )

    def _shares(self, numbers: list[int]) -> pd.DataFrame:
        """Read counts of false negatives as shares per depth, measure `FN@depth`.

        A share is a sum over a sum. A query's value is the share plus what the query moves it
        (Taylor linearisation), so that the mean is the share and its variance that of the ratio.
        """
        path, collection = self.paths[numbers[0]], self.systems[numbers[0]]["collection"]
        counts = read_shares(path)
        queries = self.queries[self.queries["collection"] == collection]
        groups = counts["query_id"].map(
            dict(zip(queries["query_id"], queries["group"], strict=True))
        )
        if groups.isna().any():
            query = counts["query_id"][groups.isna()].iloc[0]
            raise DataError(
                f"{path}: query {query} is not among the queries of {collection}; count with the "
                "queries of this collection."
            )
        sums = counts.groupby("depth")[["false_negatives", "unlabelled"]].transform("sum")
        sizes = counts.groupby("depth")["query_id"].transform("size")
        share = sums["false_negatives"] / sums["unlabelled"]
        moved = counts["false_negatives"] - share * counts["unlabelled"]
        return counts.assign(
            group=groups,
            seed=0,
            measure="FN@" + counts["depth"].astype("str"),
            value=share + moved * sizes / sums["unlabelled"],
        ).dropna(subset=["value"])


def spell(ranked: Ranked) -> str:
    """Return a system's name for people."""
    return f"{told(ranked)} on {ranked.retriever}"


def told(ranked: Ranked) -> str:
    """Return a method with its options and what its training has of its own."""
    return f"{ranked.method} ({ranked.changed})" if ranked.changed else ranked.method


def base_name(collection: str) -> str:
    """Return a collection's name without the hash of its parameters (`hpo-1a2b3c` is `hpo`)."""
    return re.sub(r"-[0-9a-f]{6}$", "", collection)


def _check(found: Sequence[Ranked], reason: str) -> None:
    if not found:
        raise NotRunError(reason)


def _named(
    found: list[Ranked], what: str, names: Sequence[str], first: str | None = None
) -> list[Ranked]:
    if names == [EACH]:
        return found
    wanted = {first if name == FIRST else name for name in names}
    chosen = [ranked for ranked in found if getattr(ranked, what) in wanted]
    _check(chosen, f"the study has no {found[0].name} with {what} {' or '.join(names)}")
    return chosen
