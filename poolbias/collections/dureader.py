"""DuReader_retrieval: the archive of the official baseline.

Passages lie in four files whose lines are numbered from 0 through all of them; a map gives each
number its official id. Training positives are given by their text alone, so they are found among
the passages by it: where several passages have it, the first (our choice;
`positives_of_several_passages`), where none has, the label is lost (`positives_not_found`).
Training queries have no ids: they are numbered in order of appearance (`train-0`, ...).
"""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poolbias.collections.given import Given, found
from poolbias.errors import DataError
from poolbias.files import open_text, reading
from poolbias.formats.texts import one_line, read_columns, read_records

_PAIR = re.compile(r'"(\d+)"\s*:\s*"([0-9a-f]{32})"')
PARTS = 4


def build(parameters: Mapping[str, Any], sources: Sequence[Path]) -> Given:
    """Return the collection from the unpacked archive.

    Args:
        parameters: what the study file says.
        sources: the unpacked folder.

    Raises:
        DataError: for a file that is missing or of another shape.
    """
    folders = [found(sources, f"part-{number:02}") for number in range(PARTS)]
    ids = read_ids(found(sources, "passage2id.map.json"))
    statistics: dict[str, Any] = {}
    queries, positives = read_training(found(sources, "dual.train.tsv"))
    train = list(match(positives, numbered(folders), ids, statistics))
    dev, judged = read_dev(found(sources, "dev.json"))
    statistics["training_queries_of_the_file"] = len(queries)
    return Given(
        ((id_of(ids, number, "passage"), text) for number, text in numbered(folders)),
        queries | dev,
        {"train": train, "dev": judged},
        ["dev"],
        statistics=statistics,
        expected={"documents": len(ids)} if parameters["check"] else {},
    )


def read_ids(path: Path) -> NDArray[np.uint8]:
    """Return the official ids by passage number, uint8 [passages, 16]: 32 digits as 16 bytes.

    Raises:
        DataError: if the numbers are not 0, 1, ... each once.
    """
    numbers, digits, rest = list[int](), bytearray(), ""
    with reading(path), open_text(path) as text:
        while block := text.read(1 << 20):
            rest += block
            end = 0
            for pair in _PAIR.finditer(rest):
                numbers.append(int(pair[1]))
                digits += bytes.fromhex(pair[2])
                end = pair.end()
            rest = rest[end:]
    order = np.asarray(numbers, dtype=np.int64)
    if not len(order) or not np.array_equal(np.sort(order), np.arange(len(order))):
        raise DataError(f"{path}: need the numbers 0, 1, ... each once; get the archive anew.")
    ids = np.empty((len(order), 16), dtype=np.uint8)
    ids[order] = np.frombuffer(bytes(digits), dtype=np.uint8).reshape(-1, 16)
    return ids


def id_of(ids: NDArray[np.uint8], number: int, what: str) -> str:
    """Return a passage's official id; `DataError` if the map does not have its number.

    Args:
        ids: uint8 [passages, 16].
        number: the passage's number.
        what: what is looked for, for the message.
    """
    if number >= len(ids):
        raise DataError(f"{what} {number}: the map has {len(ids)} ids; get the archive anew.")
    return bytes(ids[number]).hex()


def numbered(files: Sequence[Path]) -> Iterator[tuple[int, str]]:
    """Yield number and text (the third column) of each passage."""
    number = 0
    for path in files:
        for _, columns in read_columns(path, 3):
            yield number, one_line(columns[2])
            number += 1


def read_training(path: Path) -> tuple[dict[str, str], dict[bytes, list[str]]]:
    """Return the training queries by id, and the ids of the queries of each positive's digest."""
    queries: dict[str, str] = {}
    by_text: dict[str, str] = {}
    positives: dict[bytes, list[str]] = {}
    for _, columns in read_columns(path, 5):
        text = one_line(columns[0])
        name = by_text.setdefault(text, f"train-{len(by_text)}")
        queries[name] = text
        asking = positives.setdefault(_digest(one_line(columns[2])), [])
        if name not in asking:
            asking.append(name)
    return queries, positives


def match(
    positives: Mapping[bytes, Sequence[str]],
    texts: Iterator[tuple[int, str]],
    ids: NDArray[np.uint8],
    statistics: dict[str, Any],
) -> Iterator[tuple[str, str, int]]:
    """Yield the training labels, and tell in `statistics` of positives not found or found often.

    Args:
        positives: ids of queries by digest.
        texts: number and text of each passage.
        ids: uint8 [passages, 16].
        statistics: gets two counts.
    """
    seen: dict[bytes, int] = {}
    for number, text in texts:
        digest = _digest(text)
        if digest not in positives:
            continue
        seen[digest] = seen.get(digest, 0) + 1
        if seen[digest] == 1:
            document = id_of(ids, number, "passage")
            yield from ((query, document, 1) for query in positives[digest])
    statistics["positives_not_found"] = len(positives) - len(seen)
    statistics["positives_of_several_passages"] = sum(count > 1 for count in seen.values())


def read_dev(path: Path) -> tuple[dict[str, str], list[tuple[str, str, int]]]:
    """Return dev queries by id and their labels, from lines of JSON.

    Raises:
        DataError: naming file and line for a record of another shape.
    """
    queries: dict[str, str] = {}
    rows = []
    for number, record in read_records(path):
        try:
            name = str(record["question_id"])
            queries[name] = one_line(str(record["question"]))
            named = [str(part["paragraph_id"]) for part in record["answer_paragraphs"]]
        except (KeyError, TypeError) as error:
            raise DataError(
                f"{path}:{number}: lacks {error}, need question_id, question and answer_paragraphs "
                "with paragraph_id; get the archive anew."
            ) from error
        rows += [(name, document, 1) for document in dict.fromkeys(named)]
    return queries, rows


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=16).digest()
