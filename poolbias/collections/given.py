"""Collections that come with judgements: documents as a stream, queries and judgements whole.

What is the same for all of them is settled here, is our choice, and is counted in `statistics`:

- Queries are those that a split's judgements name; the others of the files are left out
  (`queries_without_judgements`).
- Where the files have no dev queries, some of the training queries are held out by keyed draws.
- A judgement of a document or query that the files do not hold is left out
  (`judgements_of_missing_documents`, `judgements_of_missing_queries`).
- A query of a test set that also trains is taken out of training (`training_queries_also_tested`).
- Every query is a group (the unit that intervals resample) of its own; its kind is its set.
"""

import hashlib
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from poolbias.collections.base import SPLITS, keyed_uniform, split_by_key
from poolbias.errors import DataError
from poolbias.files import write_json, write_text
from poolbias.formats.trec import write_qrels
from poolbias.formats.tsv import write_table

Judgements = Iterable[tuple[str, str, int]]


@dataclass(slots=True)
class Given:
    """A collection with judgements of its own, before its documents have been read.

    Attributes:
        documents: (id, text) of every document, once, in order; read once.
        queries: text by id.
        judgements: (query id, document id, grade) by set: `train`, `dev`, or a set of test queries.
        test_sets: the sets that are test queries.
        dev_sets: sets that join dev beside `dev` or what is held out.
        statistics: counts and shares, ready for JSON.
        expected: counts that the files must have, by the names of `statistics`.
    """

    documents: Iterator[tuple[str, str]]
    queries: Mapping[str, str]
    judgements: Mapping[str, Judgements]
    test_sets: list[str]
    dev_sets: list[str] = field(default_factory=list)
    statistics: dict[str, Any] = field(default_factory=dict)
    expected: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Cut:
    """How training queries are kept and held out.

    Attributes:
        held_out: training queries that become dev where there is no dev.
        training_queries: the most that are kept, or None.
        seed: keys the draws.
        shares: of each split, where all are drawn among the test queries; None if they are not.
    """

    held_out: int
    training_queries: int | None
    seed: int
    shares: Mapping[str, float] | None = None


def found(sources: Sequence[Path], name: str) -> Path:
    """Return the file of a name, among the sources or in a folder of theirs.

    Raises:
        DataError: if there is none.
    """
    for path in sources:
        if path.name == name and path.is_file():
            return path
        inside = sorted(path.rglob(name)) if path.is_dir() else []
        if inside:
            return inside[0]
    raise DataError(f"{name}: is not among {', '.join(map(str, sources))}; get the archive anew.")


def query_texts(texts: Iterator[tuple[str, str]]) -> dict[str, str]:
    """Return queries by id; `DataError` naming an id that stands twice with other texts."""
    found: dict[str, str] = {}
    for name, text in texts:
        if found.setdefault(name, text) != text:
            raise DataError(f"queries: {name} stands twice with other texts; keep one.")
    return found


def cut_of(parameters: Mapping[str, Any]) -> Cut:
    """Return how training queries are kept and held out, from what a study file says."""
    return Cut(
        parameters["held_out"],
        parameters["training_queries"],
        parameters["seed"],
        parameters["shares"] if parameters.get("draw") else None,
    )


def write(given: Given, cut: Cut, paths: Mapping[str, Path]) -> None:
    """Write a collection; its documents pass one by one, so that memory does not grow with them.

    Args:
        given: its files.
        cut: what becomes of training queries.
        paths: where `documents`, `pool_documents`, `queries`, `truth` and `statistics` go; there
            are no pool documents, so that table has a header alone.

    Raises:
        DataError: as `write_documents`, `settle` and `check_counts`.
    """
    given.judgements = {name: list(rows) for name, rows in given.judgements.items()}
    missing = {document for rows in given.judgements.values() for _, document, _ in rows}
    given.statistics["documents"] = write_documents(given.documents, paths["documents"], missing)
    queries, truth = settle(given, cut, missing)
    check_counts(given)
    write_table(paths["pool_documents"], pd.DataFrame(columns=["document_id", "text"]))
    write_table(paths["queries"], queries)
    write_qrels(paths["truth"], truth)
    write_json(paths["statistics"], given.statistics)


def write_documents(documents: Iterable[tuple[str, str]], path: Path, wanted: set[str]) -> int:
    """Write documents as they come; return their number.

    Args:
        documents: (id, text), the text without tab and line break.
        path: the table, columns `document_id` and `text`.
        wanted: ids of judged documents; those that come are taken out of it.

    Raises:
        DataError: for an id that stands twice, or no document at all.
    """
    seen = array("Q")  # 8 bytes each: ids themselves would not fit for tens of millions
    with write_text(path) as file:
        file.write("document_id\ttext\n")
        for identity, text in documents:
            seen.append(_key(identity))
            wanted.discard(identity)
            file.write(f"{identity}\t{text}\n")
        if not seen:
            raise DataError("documents: found none, need at least one; correct the files.")
        _check_once(np.frombuffer(seen, dtype=np.uint64))
    return len(seen)


def settle(given: Given, cut: Cut, missing: set[str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return queries and truth of a collection, splits settled; counts go to its statistics.

    Args:
        given: its files.
        cut: what becomes of training queries.
        missing: ids of judged documents that the files do not hold.

    Returns:
        Queries with columns `query_id`, `text`, `split`, `group`, `kind`, and qrels with columns
        `query_id`, `document_id`, `grade`, both in the files' order.

    Raises:
        DataError: for a document judged twice for a query of a set, a split without queries, or
            counts that are not the expected ones.
    """
    told = given.statistics
    told |= {"judgements_of_missing_documents": 0, "judgements_of_missing_queries": 0}
    judged: dict[str, dict[str, dict[str, int]]] = {}
    for name, rows in given.judgements.items():
        of_set = judged.setdefault(name, {})
        told[f"judgements_of_{name}"] = 0
        queries = set()
        for query, document, grade in rows:
            told[f"judgements_of_{name}"] += 1
            queries.add(query)
            if document in missing:
                told["judgements_of_missing_documents"] += 1
            elif query not in given.queries:
                told["judgements_of_missing_queries"] += 1
            elif of_set.setdefault(query, {}).setdefault(document, grade) != grade:
                raise DataError(
                    f"{name}: document {document} is judged twice for query {query}, with other "
                    "grades; keep one of the rows."
                )
        told[f"judged_queries_of_{name}"] = len(queries)
    splits = _splits(judged, given.test_sets, cut, told)
    tested = {query for members in splits.values() for _, query in members}
    for name in given.dev_sets:
        splits["dev"] += [(name, query) for query in judged[name] if query not in tested]
    asked = [
        (query, given.queries[query], split, query, name)
        for split, members in splits.items()
        for name, query in members
    ]
    columns = ["query_id", "text", "split", "group", "kind"]
    frame = pd.DataFrame(asked, columns=columns, dtype="str")
    pairs = [
        (query, document, grade)
        for members in splits.values()
        for name, query in members
        for document, grade in judged[name][query].items()
    ]
    truth = pd.DataFrame(pairs, columns=["query_id", "document_id", "grade"])
    truth = truth.astype({"query_id": "str", "document_id": "str", "grade": "int64"})
    told["queries"] = len(frame)
    told["queries_by_split"] = {name: len(splits[name]) for name in SPLITS}
    told["queries_by_set"] = {str(n): int(c) for n, c in frame["kind"].value_counts().items()}
    told["queries_without_judgements"] = len(given.queries) - len(frame)
    told["judgements"] = len(truth)
    told["judged_relevant"] = int((truth["grade"] >= 1).sum())
    return frame, truth


def check_counts(given: Given) -> None:
    """Compare counts with those of the official files; `DataError` naming the first other one."""
    for name, needed in given.expected.items():
        found = given.statistics.get(name)
        if found != needed:
            raise DataError(
                f"{name}: found {found}, need {needed} as in the official files; get them anew, or "
                "set `check: false` if the files are your own."
            )


def _splits(
    judged: Mapping[str, Mapping[str, Any]],
    test_sets: list[str],
    cut: Cut,
    told: dict[str, Any],
) -> dict[str, list[tuple[str, str]]]:
    """Return (set, query) of each split."""
    test: dict[str, str] = {}
    for name in test_sets:
        for query in judged.get(name, {}):
            if query in test:
                raise DataError(
                    f"query {query} is in the test sets {test[query]} and {name}, need each in "
                    "one; leave one set out."
                )
            test[query] = name
    if cut.shares is not None:
        drawn = split_by_key(list(test), cut.shares, cut.seed)
        splits = {s: [(n, q) for q, n in test.items() if drawn[q] == s] for s in SPLITS}
    else:
        train = [query for query in judged.get("train", {}) if query not in test]
        told["training_queries_also_tested"] = len(judged.get("train", {})) - len(train)
        dev = [query for query in judged.get("dev", {}) if query not in test]
        train = [query for query in train if query not in set(dev)] if dev else train
        held = [("dev", query) for query in dev]
        if not dev:
            out = set(_first(train, cut.held_out, "held out", cut.seed))
            held = [("train", query) for query in train if query in out]
            train = [query for query in train if query not in out]
        if cut.training_queries is not None:
            kept = set(_first(train, cut.training_queries, "kept", cut.seed))
            train = [query for query in train if query in kept]
        splits = {
            "train": [("train", query) for query in train],
            "dev": held,
            "test": [(name, query) for query, name in test.items()],
        }
    empty = [split for split in SPLITS if not splits[split]]
    if empty:
        raise DataError(
            f"queries: none in {' and '.join(empty)}; give judgements of such queries, a smaller "
            "held_out, or `draw: true` to draw all splits among the test queries."
        )
    return splits


def _first(queries: list[str], number: int, what: str, seed: int) -> list[str]:
    return sorted(queries, key=lambda query: (keyed_uniform(seed, what, query), query))[:number]


def _key(identity: str) -> int:
    return int.from_bytes(hashlib.blake2b(identity.encode(), digest_size=8).digest(), "little")


def _check_once(keys: "np.ndarray[Any, np.dtype[np.uint64]]") -> None:
    ordered = np.sort(keys)
    again = ordered[1:][ordered[1:] == ordered[:-1]]
    if len(again):
        rows = np.flatnonzero(keys == again[0])[:2] + 1
        raise DataError(
            f"documents: number {rows[0]} and number {rows[1]} have one id, need each id once; "
            "correct the files."
        )
