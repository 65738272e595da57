"""The token store of a large collection: made in shards side by side, then joined.

A shard is the documents that begin in one part of the table's bytes, so that it is found without
reading what stands before it. Texts pass some thousands at a time: memory grows with neither the
collection nor a shard. The joined store is the one that `tokens.build` makes of the same texts.
"""

from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from poolbias.errors import DataError
from poolbias.files import atomic_folder, write_json
from poolbias.formats.npy import finish_array, read_array
from poolbias.formats.tsv import batched
from poolbias.tokens import SPECIAL

TEXTS = 4096  # held at once
NAME = "texts"  # of a shard's arrays


def build_shard(
    table: Path, number: int, shards: int, tokenizer: Any, folder: Path
) -> dict[str, float]:
    """Tokenise one of `shards` parts of a table's texts into a folder that appears whole or not.

    Args:
        table: columns `document_id` and `text`, or `query_id`, `text` and more; a header line.
        number: which part, from 0.
        shards: how many there are.
        tokenizer: of the tokenizers library, without truncation and padding.
        folder: gets `texts.ids.npy` and `texts.offsets.npy`, as in a token store.

    Returns:
        Numbers of texts and tokens.
    """
    with atomic_folder(folder) as temporary:
        return _write(lines_of(table, number, shards), tokenizer, temporary, NAME)


def lines_of(table: Path, number: int, shards: int) -> Iterator[str]:
    """Yield the texts of the lines that begin in one of `shards` equal parts of a table's bytes.

    Raises:
        DataError: naming the table if it has no column `text`.
    """
    with table.open("rb") as file:
        header = file.readline().decode("utf-8-sig").rstrip("\r\n").split("\t")
        if "text" not in header:
            raise DataError(f"{table}:1: column 'text' is missing; make the file again.")
        place, first = header.index("text"), file.tell()
        length = table.stat().st_size - first
        begin, end = (first + length * part // shards for part in (number, number + 1))
        file.seek(max(begin - 1, first))
        if begin > first:
            file.readline()  # what began before this part; nothing, if a line ends just there
        while file.tell() < end and (line := file.readline()):
            yield line.decode("utf-8").rstrip("\r\n").split("\t")[place]


def join(parts: Sequence[Path], queries: Path, tokenizer: Any, folder: Path) -> dict[str, float]:
    """Join shards of the documents, in order, and tokenise the queries, into one token store.

    Args:
        parts: the shards' folders.
        queries: the table of queries.
        tokenizer: as in `build_shard`.
        folder: appears whole or not at all.

    Returns:
        Numbers of texts and mean numbers of word pieces.
    """
    with atomic_folder(folder) as temporary:
        counts, tokens, kind = [0], 0, np.dtype(np.uint16)
        with (temporary / "ids.raw").open("wb") as ids, (temporary / "offsets.raw").open("wb") as o:
            o.write(np.zeros(1, np.int64).tobytes())
            for part in parts:
                held = read_array(part / f"{NAME}.ids.npy")
                offsets = read_array(part / f"{NAME}.offsets.npy")
                kind = held.dtype
                for start in range(0, len(held), 1 << 24):
                    ids.write(held[start : start + (1 << 24)].tobytes())
                o.write((np.asarray(offsets[1:]) + tokens).tobytes())
                tokens += len(held)
                counts.append(len(offsets) - 1)
        documents = sum(counts)
        finish_array(temporary / "ids.raw", temporary / "documents.ids.npy", kind, tokens)
        path = temporary / "documents.offsets.npy"
        finish_array(temporary / "offsets.raw", path, np.dtype(np.int64), documents + 1)
        asked = _write(lines_of(queries, 0, 1), tokenizer, temporary, "queries")
        special = {name: tokenizer.token_to_id(name) for name in SPECIAL}
        write_json(temporary / "special.json", special)
    return {
        "documents": documents,
        "documents_mean_tokens": tokens / max(documents, 1),
        "queries": asked["texts"],
        "queries_mean_tokens": asked["tokens"] / max(asked["texts"], 1),
    }


def bytes_of(documents: int, tokens: float, vocabulary: int = 30_522) -> int:
    """Return how many bytes the documents of a token store take: what is predicted before paying.

    Args:
        documents: how many.
        tokens: their mean number of word pieces.
        vocabulary: the tokenizer's word pieces: ids take 2 bytes up to 65,536 of them, else 4.
    """
    size = 2 if vocabulary <= 2**16 else 4
    return round(documents * (tokens * size + 8)) + 8 + 2 * 128  # offsets, and two headers


def _write(texts: Iterator[str], tokenizer: Any, folder: Path, name: str) -> dict[str, float]:
    kind = np.dtype(np.uint16 if tokenizer.get_vocab_size() <= 2**16 else np.int32)
    ends, count = array("q", [0]), 0
    with (folder / "raw").open("wb") as raw:
        for block in batched(texts, TEXTS):
            for encoding in tokenizer.encode_batch(block, add_special_tokens=False):
                raw.write(np.asarray(encoding.ids, dtype=kind).tobytes())
                ends.append(ends[-1] + len(encoding.ids))
            count += len(block)
    finish_array(folder / "raw", folder / f"{name}.ids.npy", kind, ends[-1])
    np.save(folder / f"{name}.offsets.npy", np.frombuffer(ends, np.int64), allow_pickle=False)
    return {"texts": count, "tokens": ends[-1]}
