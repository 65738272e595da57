"""Training lists of the passage sieve and AR2: `train_ce.json` (DPR's style) and MS MARCO's TSV.

Each query has labelled documents and hard negatives, best first, with the retriever's scores.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from poolbias.errors import DataError
from poolbias.files import open_text, reading, write_text

SIDES = {"positives": "positive_ctxs", "negatives": "hard_negative_ctxs"}
COLUMNS = 4  # query_id, query, positives, negatives


@dataclass(frozen=True)
class TrainingLists:
    """What such a file holds.

    Attributes:
        queries: columns `query_id`, `text`.
        positives: columns `query_id`, `document_id`, `score`, in the file's order.
        negatives: likewise.
        documents: columns `document_id`, `title`, `text`, each document once; empty for the TSV
            form, which names documents only.
        answers: of each query id; empty where the form has none.
    """

    queries: pd.DataFrame
    positives: pd.DataFrame
    negatives: pd.DataFrame
    documents: pd.DataFrame
    answers: dict[str, list[str]]


def read_json_lists(path: Path) -> TrainingLists:
    """Read a `train_ce.json`.

    Raises:
        DataError: naming the file and the item for what is not as DPR's style has it, for a query
            that stands twice, or a document with two texts.
    """
    with reading(path), open_text(path) as text:
        try:
            items = json.load(text)
        except ValueError as error:
            raise DataError(f"{path}: is no JSON ({error}); fetch or make it again.") from error
    if not isinstance(items, list):
        raise DataError(f"{path}: found a {type(items).__name__}, need a list of queries.")
    queries: dict[str, str] = {}
    answers: dict[str, list[str]] = {}
    sides: dict[str, list[tuple[str, str, float]]] = {side: [] for side in SIDES}
    documents: dict[str, tuple[str, str]] = {}
    for number, item in enumerate(items, start=1):
        where = f"{path}: item {number}"
        try:
            query = str(item["q_id"])
            _once(queries, query, str(item["question"]), where)
            answers[query] = [str(answer) for answer in item["answers"]]
            for side, key in SIDES.items():
                for found in item[key]:
                    document = str(found["passage_id"])
                    both = (str(found.get("title", "")), str(found["text"]))
                    if documents.setdefault(document, both) != both:
                        raise DataError(
                            f"{where}: document {document} has another text than before, need one."
                        )
                    sides[side].append((query, document, float(found["score"])))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DataError(
                f"{where}: {type(error).__name__} {error}, need q_id, question, answers and lists "
                "of title, text, passage_id and score; correct it."
            ) from error
    rows = [(document, *both) for document, both in documents.items()]
    return _lists(queries, sides, rows, answers)


def write_json_lists(path: Path, lists: TrainingLists) -> None:
    """Write a `train_ce.json` atomically; `DataError` for a document without a text."""
    texts = {row.document_id: row for row in lists.documents.itertuples()}
    sides = {side: _by_query(getattr(lists, side)) for side in SIDES}
    items = []
    for query, text in zip(lists.queries["query_id"], lists.queries["text"], strict=True):
        item: dict[str, Any] = {
            "q_id": query,
            "question": text,
            "answers": lists.answers.get(query, []),
            "negative_ctxs": [],
        }
        for side, key in SIDES.items():
            item[key] = []
            for document, score in sides[side].get(query, []):
                if document not in texts:
                    raise DataError(
                        f"{path}: document {document} of query {query} has no text, need one."
                    )
                row = texts[document]
                found = {"title": row.title, "text": row.text, "passage_id": document}
                item[key].append(found | {"score": score})
        items.append(item)
    with write_text(path) as file:
        json.dump(items, file, indent=1, ensure_ascii=False, allow_nan=False)
        file.write("\n")


def read_tsv_lists(path: Path) -> TrainingLists:
    """Read MS MARCO's form: query_id, query, and two comma lists of `document score`, by tabs.

    Raises:
        DataError: naming file and line for another form, or a query that stands twice.
    """
    queries: dict[str, str] = {}
    sides: dict[str, list[tuple[str, str, float]]] = {side: [] for side in SIDES}
    with reading(path), open_text(path) as text:
        for number, line in enumerate(text, start=1):
            where, fields = f"{path}:{number}", line.rstrip("\n").split("\t")
            if len(fields) != COLUMNS:
                raise DataError(
                    f"{where}: found {len(fields)} columns, need {COLUMNS}; correct it."
                )
            _once(queries, fields[0], fields[1], where)
            for side, told in zip(SIDES, fields[2:], strict=True):
                sides[side] += [(fields[0], *pair) for pair in _pairs(told, where)]
    return _lists(queries, sides, [], {})


def write_tsv_lists(path: Path, lists: TrainingLists) -> None:
    """Write MS MARCO's form atomically."""
    sides = {side: _by_query(getattr(lists, side)) for side in SIDES}
    with write_text(path) as file:
        for query, text in zip(lists.queries["query_id"], lists.queries["text"], strict=True):
            told = [
                ",".join(f"{document} {score}" for document, score in found.get(query, []))
                for found in sides.values()
            ]
            file.write("\t".join([query, text, *told]) + "\n")


def _pairs(told: str, where: str) -> Iterator[tuple[str, float]]:
    for pair in told.split(",") if told else []:
        document, _, score = pair.strip().partition(" ")
        try:
            yield document, float(score)
        except ValueError:
            raise DataError(
                f"{where}: found {pair.strip()!r}, need a document and its score; correct it."
            ) from None


def _once(queries: dict[str, str], query: str, text: str, where: str) -> None:
    if query in queries:
        raise DataError(f"{where}: query {query} stands twice, need each once; keep one.")
    queries[query] = text


def _by_query(frame: pd.DataFrame) -> dict[str, list[tuple[str, float]]]:
    found: dict[str, list[tuple[str, float]]] = {}
    rows = zip(frame["query_id"], frame["document_id"], frame["score"].tolist(), strict=True)
    for query, document, score in rows:
        found.setdefault(query, []).append((document, score))
    return found


def _lists(
    queries: dict[str, str],
    sides: dict[str, list[tuple[str, str, float]]],
    documents: Iterable[tuple[str, str, str]],
    answers: dict[str, list[str]],
) -> TrainingLists:
    frames = {
        side: pd.DataFrame(rows, columns=["query_id", "document_id", "score"]).astype(
            {"query_id": "str", "document_id": "str", "score": np.float64}
        )
        for side, rows in sides.items()
    }
    return TrainingLists(
        pd.DataFrame(list(queries.items()), columns=["query_id", "text"], dtype="str"),
        frames["positives"],
        frames["negatives"],
        pd.DataFrame(list(documents), columns=["document_id", "title", "text"], dtype="str"),
        answers,
    )
