"""Streams of (id, text) from tables, JSON lines and TREC files: one record at a time in memory.

Files may be plain or gzip, with or without a byte order mark, with any line ends. Runs of white
space become one blank, so that a text stands on one line of our tables.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from poolbias.errors import DataError
from poolbias.files import open_text, reading

Texts = Iterator[tuple[str, str]]
_DOCNO = re.compile(r"<DOCNO>\s*(.*?)\s*</DOCNO>", re.IGNORECASE | re.DOTALL)
_NUM = re.compile(r"<num>\s*(?:Number:)?\s*([^\s<]+)", re.IGNORECASE)
_TITLE = re.compile(r"<title>\s*(?:Topic:)?\s*(.*?)\s*(?=<|$)", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"<[^>]*>")
# What UTF-8 becomes when it is read as Windows-1252: two or more of its characters above ASCII.
_SUSPECT = re.compile("[\x80-\xff€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]{2,}")


def one_line(text: str) -> str:
    """Return a text with each run of white space (and of control characters) as one blank."""
    return " ".join(text.replace("\x00", " ").split())


def repaired(text: str) -> str:
    """Return a text in which UTF-8 that was once read as Windows-1252 is read as UTF-8 again.

    Pieces that are no such UTF-8 stay as they are, so that a right text is not changed (but for one
    that truly holds such a sequence, as `Ã©` in a text about encodings).
    """
    return _SUSPECT.sub(_repaired_piece, text)


def _repaired_piece(match: "re.Match[str]") -> str:
    try:
        return b"".join(_byte(letter) for letter in match[0]).decode("utf-8")
    except UnicodeError:
        return match[0]


def _byte(letter: str) -> bytes:
    try:
        return letter.encode("cp1252")
    except UnicodeEncodeError:
        return letter.encode("latin-1")  # the five bytes that Windows-1252 leaves open


def read_texts(
    path: Path | str, fields: Sequence[str] = ("title", "text"), joint: str = " "
) -> Texts:
    """Yield (id, text) of a file of documents or queries, read by what its name ends in.

    Args:
        path: `.jsonl` (BEIR's `_id`, `title`, `text`; also `id`), `.trec` (`<DOC>` or `<top>`), any
            other is a table without header: id, tab, text.
        fields: fields of a JSON line that make the text, those there are.
        joint: what stands between two fields.

    Raises:
        DataError: naming file and line for what is not of the format, an empty id or an id with
            white space.
    """
    name = str(path).removesuffix(".gz")
    if name.endswith((".jsonl", ".json")):
        yield from read_json_lines(path, lambda record: from_json(record, fields, joint))
    elif name.endswith((".trec", ".xml", ".sgml")):
        yield from read_trec_texts(path)
    else:
        for number, columns in read_columns(path, 2):
            yield checked(columns[0], f"{path}:{number}"), one_line(columns[1])


def from_json(record: Any, fields: Sequence[str], joint: str) -> tuple[str, str]:
    """Return id and text of a JSON line in BEIR's shape; `KeyError` if it is of another."""
    identity = record["_id"] if "_id" in record else record["id"]
    parts = [one_line(str(record[name])) for name in fields if record.get(name)]
    if "text" not in record:
        raise KeyError("text")
    return str(identity), joint.join(parts)


def read_json_lines(path: Path | str, read: Callable[[Any], tuple[str, str]]) -> Texts:
    """Yield what `read` makes of each JSON line; blank lines are passed over.

    Raises:
        DataError: naming file and line for what `read` cannot use.
    """
    for number, record in read_records(path):
        try:
            identity, text = read(record)
        except (KeyError, TypeError, AttributeError) as error:
            raise DataError(
                f"{path}:{number}: lacks {error} or is no object, need `_id` and `text`; correct "
                "the line."
            ) from error
        yield checked(identity, f"{path}:{number}"), text


def read_records(path: Path | str) -> Iterator[tuple[int, Any]]:
    """Yield the number and the value of each JSON line; `DataError` for one that is not JSON."""
    with reading(path), open_text(path) as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                yield number, json.loads(line)
            except json.JSONDecodeError as error:
                raise DataError(
                    f"{path}:{number}: not JSON ({error.msg}); correct the line or get the file "
                    "anew."
                ) from error


def read_columns(path: Path | str, least: int) -> Iterator[tuple[int, list[str]]]:
    """Yield number and columns of each line of a table without header; blank lines are not seen.

    Raises:
        DataError: naming file and line for a line of fewer than `least` columns.
    """
    with reading(path), open_text(path) as lines:
        for number, line in enumerate(lines, start=1):
            columns = line.rstrip("\r\n").split("\t")
            if columns == [""]:
                continue
            if len(columns) < least:
                raise DataError(
                    f"{path}:{number}: found {len(columns)} columns, need {least} with tabs "
                    "between; correct the line."
                )
            yield number, columns


def read_trec_texts(path: Path | str) -> Texts:
    """Yield (id, text) of TREC documents (`<DOC>`, `<DOCNO>`) or queries (`<top>`, `<num>`).

    A document's text is all that stands in it beside `<DOCNO>`, without tags; a query's is its
    title.

    Raises:
        DataError: naming file and line for a record without id, or a query without title.
    """
    for number, block, kind in _blocks(path):
        where = f"{path}:{number}"
        if kind == "top":
            found, title = _NUM.search(block), _TITLE.search(block)
            if not found or not title:
                raise DataError(f"{where}: need <num> and <title>; correct the record.")
            yield checked(found[1], where), one_line(title[1])
        else:
            found = _DOCNO.search(block)
            if not found:
                raise DataError(f"{where}: need <DOCNO>; correct the record.")
            text = _TAG.sub(" ", block[: found.start()] + block[found.end() :])
            yield checked(found[1], where), one_line(text)


def read_trec_records(path: Path | str) -> Iterator[tuple[str, str, list[str]]]:
    """Yield place, id and the lines within `<TEXT>` of each TREC document.

    Raises:
        DataError: naming file and line for a record without id.
    """
    for number, block, _ in _blocks(path):
        found = _DOCNO.search(block)
        if not found:
            raise DataError(f"{path}:{number}: need <DOCNO>; correct the record.")
        _, begin, rest = block[found.end() :].partition("<TEXT>")
        lines = rest.rpartition("</TEXT>")[0] if begin else ""
        where = f"{path}:{number}"
        yield where, checked(found[1], where), lines.lstrip("\n").splitlines()


def read_json_array(path: Path | str) -> Iterator[Any]:
    """Yield the members of one JSON array, one at a time, however long it is.

    Raises:
        DataError: naming file and member for what is no JSON, or text that is no array.
    """
    decoder, rest, number = json.JSONDecoder(), "", 0
    with reading(path), open_text(path) as text:
        if text.read(1) != "[":
            raise DataError(f"{path}: need a JSON array; get the file anew.")
        while True:
            rest = rest.lstrip(" \t\r\n,")
            if rest.startswith("]"):
                return
            try:
                member, end = decoder.raw_decode(rest)
            except json.JSONDecodeError as error:
                block = text.read(1 << 20)
                if not block:
                    raise DataError(
                        f"{path}: member {number + 1} is no JSON ({error.msg}); the file is cut or "
                        "damaged, get it anew."
                    ) from error
                rest += block
                continue
            if not isinstance(member, dict):
                raise DataError(f"{path}: member {number + 1} is no object; get the file anew.")
            yield member
            number, rest = number + 1, rest[end:]


def _blocks(path: Path | str) -> Iterator[tuple[int, str, str]]:
    kind, begun, lines = "", 0, list[str]()
    with reading(path), open_text(path) as text:
        for number, line in enumerate(text, start=1):
            mark = line.strip().lower()
            if not kind and mark in ("<doc>", "<top>"):
                kind, begun, lines = mark[1:-1], number, []
            elif kind and mark == f"</{kind}>":
                yield begun, "".join(lines), kind
                kind = ""
            elif kind:
                lines.append(line)
            elif mark and not mark.startswith(("<?", "<!", "<xml", "</xml")):
                raise DataError(
                    f"{path}:{number}: found text outside <DOC> or <top>; correct the file."
                )
    if kind:
        raise DataError(f"{path}:{begun}: <{kind}> has no end; the file is cut, get it anew.")


def read_judgements(path: Path | str) -> Iterator[tuple[str, str, int]]:
    """Yield (query id, document id, grade) of TREC qrels or BEIR's table with a header.

    Raises:
        DataError: naming file and line for another number of columns or a grade that is none.
    """
    with reading(path), open_text(path) as text:
        for number, line in enumerate(text, start=1):
            columns = line.split()
            if not columns or (number == 1 and columns[0] in ("query-id", "query_id")):
                continue
            if len(columns) not in (3, 4):
                raise DataError(
                    f"{path}:{number}: found {len(columns)} columns, need 4 (TREC: query 0 document"
                    " grade) or 3 (query document grade); correct the line."
                )
            try:
                grade = int(columns[-1])
            except ValueError as error:
                raise DataError(
                    f"{path}:{number}: grade is {columns[-1]!r}, need a whole number; correct it."
                ) from error
            yield columns[0], columns[-2], grade


def checked(identity: str, where: str) -> str:
    """Return an id; `DataError` beginning with `where` if it is empty or holds white space."""
    if not identity or identity.split() != [identity]:
        raise DataError(f"{where}: found the id {identity!r}, need one without white space.")
    return identity
