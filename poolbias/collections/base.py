"""What every collection hands on, and the keyed draws by which its queries are split and cut."""

import dataclasses
import difflib
import graphlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import pandas as pd

from poolbias.errors import ConfigError
from poolbias.files import hash_of

SPLITS = ("train", "dev", "test")
UNITS = ("term", "branch")  # what a split keeps together
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Collection:
    """Documents, queries and the complete truth of a collection; all ids are `str`.

    Attributes:
        documents: `document_id`, `text`: what retrievers and rankers read.
        pool_documents: `document_id`, `text`: what the outside annotators' search reads.
        queries: `query_id`, `text`, `split` (one of `SPLITS`), `group` (the unit to resample),
            `kind`.
        truth: `query_id`, `document_id`, `grade` (int64, >= 1): every relevant document.
        statistics: counts and shares, ready for JSON.
    """

    documents: pd.DataFrame
    pool_documents: pd.DataFrame
    queries: pd.DataFrame
    truth: pd.DataFrame
    statistics: dict[str, Any] = field(default_factory=dict)


def read_parameters(kind: str, shape: type[T], given: Mapping[str, Any]) -> T:
    """Return a collection's parameters, an object of the dataclass `shape`, from a JSON object.

    Args:
        kind: what the collection is called, for messages.
        shape: fields without a default must be given.
        given: values by the fields' names.

    Raises:
        ConfigError: for an unknown or a missing key, or as `shape` checks.
    """
    fields = {item.name: item for item in dataclasses.fields(shape)}  # type: ignore[arg-type]
    for key in given:
        if key not in fields:
            near = difflib.get_close_matches(key, fields, n=1, cutoff=0)[0]
            raise ConfigError(f"{key}: the collection {kind} has no such key; use {near!r}?")
    for name, item in fields.items():
        if name not in given and item.default is dataclasses.MISSING:
            raise ConfigError(f"{name}: the collection {kind} needs this key; add it.")
    return shape(**given)


def check_unit(split: str) -> None:
    """Check that `split` is one of `UNITS`; `ConfigError` otherwise."""
    if split not in UNITS:
        raise ConfigError(f"split: found {split!r}, need 'term' or 'branch'; correct it.")


def check_bounds(minimum: int, maximum: int) -> None:
    """Check the bounds of a query's relevant documents; `ConfigError` unless 1 <= min <= max."""
    if not 1 <= minimum <= maximum:
        raise ConfigError(
            f"minimum_relevant: found {minimum}, need 1 to maximum_relevant ({maximum}); "
            "correct it."
        )


def check_splits(queries: pd.DataFrame) -> None:
    """Check that each of `SPLITS` has queries.

    Args:
        queries: column `split`.

    Raises:
        ConfigError: naming the splits without a query.
    """
    empty = [split for split in SPLITS if not (queries["split"] == split).any()]
    if empty:
        raise ConfigError(
            f"split: no query of {len(queries)} is in {' and '.join(empty)} (there are too few "
            "queries, or too large branches); use split: term, more queries or other shares."
        )


def descendants(children: Mapping[str, Sequence[str]]) -> dict[str, frozenset[str]]:
    """Return what is below each id of a hierarchy, at any depth, itself not among it.

    Args:
        children: the ids directly below each id; every id is a key.

    Raises:
        graphlib.CycleError: if an id is below itself; its second argument is the circle.
    """
    below: dict[str, frozenset[str]] = {}
    for item in graphlib.TopologicalSorter(children).static_order():
        parts = (below[child] for child in children[item])
        below[item] = frozenset(children[item]).union(*parts)
    return below


def keyed_uniform(*key: Any) -> float:
    """Return a number in [0, 1) that depends on nothing but `key` (strings and numbers).

    It is the first 52 bits of a hash, so a draw for one id never moves when other ids come or go.
    """
    return int(hash_of(key, 13), 16) / 16**13


def check_shares(shares: Mapping[str, float]) -> None:
    """Check that `shares` gives each of `SPLITS` a positive share and that they sum to 1.

    Raises:
        ConfigError: naming what is missing, unknown or not positive, or the sum.
    """
    if sorted(shares) != sorted(SPLITS) or not all(share > 0 for share in shares.values()):
        raise ConfigError(
            f"shares: found {dict(shares)}, need a positive number for each of train, dev and test;"
            " correct the study file."
        )
    if abs(sum(shares.values()) - 1) > 1e-6:
        raise ConfigError(
            f"shares: they sum to {sum(shares.values()):g}, need 1; correct the study file."
        )


def split_by_key(ids: Sequence[str], shares: Mapping[str, float], seed: int) -> dict[str, str]:
    """Return the split of each id: its own keyed draw decides, whatever other ids there are.

    The shares are hence met on average only; the collection's statistics tell what came out.
    """
    train, dev = shares["train"], shares["train"] + shares["dev"]
    splits = {}
    for item in ids:
        draw = keyed_uniform(seed, "split", item)
        splits[item] = "train" if draw < train else "dev" if draw < dev else "test"
    return splits


def split_by_branch(
    branches: Mapping[str, frozenset[str]], shares: Mapping[str, float], seed: int
) -> dict[str, str]:
    """Return the split of each id by the branches that it lies under, whole branches at a time.

    An id under branches of several splits belongs to the first of train, dev and test among them,
    so that nothing above a test id (its branches are a subset) is ever in train or dev. Branches
    are taken in the order of their keyed draws; each goes to test if test then stays within its
    share of the ids, the others in the same way to dev, all that is left to train. An id under no
    branch stands above all of them and counts as test.
    """
    names = sorted(set().union(*branches.values()))
    names.sort(key=lambda name: keyed_uniform(seed, "branch", name))
    held_out: set[str] = set()
    splits: dict[str, str] = {}
    for split in ("test", "dev"):
        limit = shares[split] * len(branches)
        for name in names:
            with_it = held_out | {name}
            inside = [item for item in branches if branches[item] <= with_it]
            if sum(item not in splits for item in inside) <= limit:
                held_out = with_it
        inside = [item for item in branches if branches[item] <= held_out]
        splits |= {item: split for item in inside if item not in splits}
    return {item: splits.get(item, "train") for item in branches}


def cut_queries(queries: pd.DataFrame, maximum: int, seed: int) -> pd.DataFrame:
    """Return at most `maximum` queries, whole groups only, with the splits' shares kept.

    Each split may keep its share of `maximum` (rounded down); its groups are
    taken in the order of their keyed draws, and one that no longer fits is passed over.

    Args:
        queries: `query_id`, `split`, `group` and any other columns; rows keep their order.
        maximum: the number of queries to keep at most.
        seed: keys the draws.

    Raises:
        ConfigError: if a split would be left without queries.
    """
    if len(queries) <= maximum:
        return queries
    kept: set[str] = set()
    for split, part in queries.groupby("split"):
        room = maximum * len(part) // len(queries)
        sizes = part["group"].value_counts().to_dict()
        before = len(kept)
        for group in sorted(sizes, key=lambda name: (keyed_uniform(seed, "cut", name), name)):
            if sizes[group] <= room:
                room -= sizes[group]
                kept.add(str(group))
        if len(kept) == before:
            raise ConfigError(
                f"maximum_queries: {maximum} leaves the split {split} without queries; "
                "give a larger number."
            )
    return queries[queries["group"].isin(kept)].reset_index(drop=True)
