"""What every collection hands on, and the keyed draws by which its queries are split and cut."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from poolbias.errors import ConfigError
from poolbias.files import hash_of

SPLITS = ("train", "dev", "test")


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
            inside = [item for item in branches if branches[item] <= held_out | {name}]
            if sum(item not in splits for item in inside) <= limit:
                held_out.add(name)
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
