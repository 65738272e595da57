"""BM25 by Lucene, through the command lines of Anserini: build an index, search it."""

import json
import logging
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from poolbias.errors import DataError, ToolError
from poolbias.files import open_text
from poolbias.formats import read_run
from poolbias.retrieval.java import run_java

log = logging.getLogger("poolbias")


def build_index(documents: Path, index: Path) -> int:
    """Index documents with Anserini's defaults for English (Porter stemmer, its stop words).

    One thread and one segment, so that an index's content depends on the documents alone. It is
    built beside `index` and takes that name when it is complete; what stood there is replaced.
    Anserini leaves out documents without text; they are counted in a warning.

    Args:
        documents: tab-separated table with a header and the columns `document_id` and `text`.
        index: the folder to make.

    Returns:
        The number of documents in the index.

    Raises:
        DataError: naming file and line for an id that is empty, holds a blank or comes twice.
        ToolError: if Anserini fails, or the index does not hold every document that has a text.
    """
    index.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{index.name}.", dir=index.parent) as folder:
        collection, built = Path(folder) / "documents", Path(folder) / "index"
        collection.mkdir()
        total, expected = _write_collection(documents, collection / "documents.jsonl")
        if not expected:
            raise DataError(f"{documents}: no document has a text, need at least one; add some.")
        if total > expected:
            log.warning(
                "%s: %d documents without text, not found by BM25", documents, total - expected
            )
        run_java(
            "io.anserini.index.IndexCollection",
            [
                *("-collection", "JsonCollection", "-input", collection, "-index", built),
                *("-generator", "DefaultLuceneDocumentGenerator", "-threads", "1", "-optimize"),
                *("-memoryBuffer", "1024"),
            ],
            heap="3g",
        )
        indexed = count_documents(built)
        if indexed != expected:
            raise ToolError(
                f"{documents}: Anserini indexed {indexed} documents, need all {expected} that have "
                "a text; look for what it skipped in the log at level debug."
            )
        if index.exists():
            shutil.rmtree(index)
        built.rename(index)
    return indexed


def count_documents(index: Path) -> int:
    """Return how many documents Lucene counts in an index.

    Raises:
        ToolError: if Anserini cannot read the index.
    """
    lines = run_java("io.anserini.index.IndexReaderUtils", ["-index", index, "-stats"])
    for line in lines:
        match = re.fullmatch(r"documents:\s+([\d,]+)", line)
        if match:
            return int(match.group(1).replace(",", ""))
    raise ToolError(f"{index}: Anserini tells no number of documents; build the index again.")


def search(
    index: Path, queries: pd.DataFrame, k1: float, b: float, depth: int, threads: int
) -> tuple[pd.DataFrame, list[str]]:
    """Search an index for every query as a bag of words; operators in it mean nothing.

    The order is Anserini's: by Lucene's score, equal scores by document id. Anserini prints scores
    with four decimals and takes 1e-6, 2e-6, ... off those that print the same; with many of them
    this falls below the next score, or vanishes in float32. Where it does, a score is lowered to
    the next float32 below the one above it. So scores of a query strictly descend, and the
    canonical order (float32 score, then id) is Anserini's order.

    Args:
        index: a folder made by `build_index`.
        queries: columns `query_id` and `text`.
        k1: BM25's k1.
        b: BM25's b.
        depth: the most documents per query.
        threads: queries searched at a time; does not change the result.

    Returns:
        The run (`query_id`, `document_id`, `rank` int64 from 1, `score` float32), in the order of
        `queries`, and the ids of the queries without hits (no text, nothing left of it by the
        analysis, or no document with one of its words).

    Raises:
        DataError: for a query id that is empty, holds a blank or comes twice.
        ToolError: if Anserini fails, or what it returns does not fit the queries.
    """
    # Blanks of every kind become one space: the topics file ends a query at a tab or a line break.
    texts = {}
    for query_id, text in zip(queries["query_id"], queries["text"], strict=True):
        _check_id("queries", query_id, query_id in texts)
        texts[query_id] = " ".join(text.split())
    with tempfile.TemporaryDirectory() as folder:
        topics, output = Path(folder) / "topics.tsv", Path(folder) / "run.txt"
        lines = [f"{query_id}\t{text}\n" for query_id, text in texts.items() if text]
        topics.write_text("".join(lines), encoding="utf-8", newline="\n")
        if lines:
            run_java(
                "io.anserini.search.SearchCollection",
                [
                    *("-index", index, "-topicReader", "TsvString", "-topics", topics),
                    *("-output", output, "-hits", str(depth), "-threads", str(threads)),
                    *("-bm25", "-bm25.k1", repr(float(k1)), "-bm25.b", repr(float(b))),
                ],
            )
            if not output.exists():
                raise ToolError(
                    f"{index}: Anserini wrote no run; look into its log at level debug."
                )
        empty = not output.exists() or not output.stat().st_size
        found = None if empty else read_run(output)
    if found is None:
        columns = {"query_id": "str", "document_id": "str", "rank": "int64", "score": "float32"}
        return pd.DataFrame(columns=list(columns)).astype(columns), list(texts)
    run = _in_order(found, list(texts), depth)
    hit = set(run["query_id"].unique())
    return run, [query_id for query_id in texts if query_id not in hit]


def strictly_descending(run: pd.DataFrame) -> pd.DataFrame:
    """Return a run with float32 scores lowered as little as makes each less than the one before.

    Args:
        run: columns `query_id`, `rank`, `score`, each query's rows by ascending rank.
    """
    # As integers of one step per float32: the score at place i is the least of score j - (i - j)
    # over all j <= i, a running minimum of score + place.
    bits = run["score"].to_numpy(np.float32).view(np.int32).astype(np.int64)
    steps = np.where(bits >= 0, bits, -(bits & 0x7FFFFFFF))
    groups = run["query_id"].to_numpy()
    place = run.groupby("query_id", sort=False).cumcount().to_numpy()
    lowered = pd.Series(steps + place).groupby(groups, sort=False).cummin().to_numpy() - place
    bits = np.where(lowered >= 0, lowered, 0x80000000 - lowered).astype(np.uint32)
    return run.assign(score=bits.view(np.float32))


def _in_order(run: pd.DataFrame, query_ids: list[str], depth: int) -> pd.DataFrame:
    """Check what Anserini returned and bring it into the queries' order."""
    places = run["query_id"].map({query_id: place for place, query_id in enumerate(query_ids)})
    if places.isna().any():
        unknown = run["query_id"][places.isna()].iloc[0]
        raise ToolError(f"Anserini returned query {unknown!r}, which was not asked; report this.")
    run = run.iloc[np.lexsort((run["rank"], places))].reset_index(drop=True)
    expected = run.groupby("query_id", sort=False).cumcount() + 1
    if (run["rank"] != expected).any() or (expected > depth).any():
        wrong = run["query_id"][(run["rank"] != expected) | (expected > depth)].iloc[0]
        raise ToolError(f"Anserini's ranks of query {wrong} are not 1 to {depth}; report this.")
    return strictly_descending(run)


def _write_collection(documents: Path, collection: Path) -> tuple[int, int]:
    """Write Anserini's JSON lines; return how many documents there are, and how many have text."""
    total = written = 0
    with collection.open("w", encoding="utf-8", newline="\n") as lines:
        for document_id, text in _documents(documents):
            total += 1
            if text := " ".join(text.split()):
                written += 1
                entry = {"id": document_id, "contents": text}
                lines.write(json.dumps(entry, ensure_ascii=False) + "\n")
    return total, written


def _documents(documents: Path) -> Iterator[tuple[str, str]]:
    """Yield ids and texts line by line: a collection need not fit into memory."""
    seen = set()
    with open_text(documents) as lines:
        header = next(lines, "").rstrip("\n").split("\t")
        if "document_id" not in header or "text" not in header:
            raise DataError(
                f"{documents}:1: found the columns {', '.join(header)}, need document_id and text; "
                "add a header line."
            )
        id_column, text_column = header.index("document_id"), header.index("text")
        for number, line in enumerate(lines, start=2):
            fields = line.rstrip("\n").split("\t")
            if len(fields) != len(header):
                raise DataError(
                    f"{documents}:{number}: found {len(fields)} columns, need {len(header)} as in "
                    "line 1; correct the line."
                )
            document_id = fields[id_column]
            _check_id(f"{documents}:{number}", document_id, document_id in seen)
            seen.add(document_id)
            yield document_id, fields[text_column]


def _check_id(where: str, found: str, again: bool) -> None:
    if again:
        raise DataError(f"{where}: id {found!r} comes twice, ids must differ; remove one.")
    if found.split() != [found]:
        raise DataError(
            f"{where}: found the id {found!r}, need one without blanks (a run file's columns are "
            "separated by them); rename it."
        )
