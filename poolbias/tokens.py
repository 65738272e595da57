"""The token store: every text tokenised once, its ids in memory-mapped arrays.

A folder holds, for `documents` and for `queries`, the ids of all texts end to end (`*.ids.npy`)
and where each text begins (`*.offsets.npy`, int64 [texts + 1]), in the order of the collection's
files; `special.json` holds the ids of [CLS], [SEP] and [PAD].
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from poolbias.errors import DataError
from poolbias.files import atomic_folder, read_json, write_json
from poolbias.formats.npy import read_array

if TYPE_CHECKING:
    from tokenizers import Tokenizer

Ids = NDArray[np.int64]
SPECIAL = ("[CLS]", "[SEP]", "[PAD]")


@dataclass(frozen=True)
class Limits:
    """How long a sequence may be, in word pieces.

    The query is cut to `query`; then only the document is cut, to `document` and so that the whole
    sequence with its three special tokens has at most `sequence` (if given). A document always
    keeps at least one word piece.
    """

    query: int
    document: int
    sequence: int | None = None

    def __post_init__(self) -> None:
        least = self.query + 4  # three special tokens and one of the document
        if self.query < 1 or self.document < 1:
            raise DataError("query and document need at least one token each; raise the limits.")
        if self.sequence is not None and self.sequence < least:
            raise DataError(
                f"sequence_tokens is {self.sequence}, need at least {least} so that a query of "
                f"{self.query} tokens leaves one for the document; raise it."
            )


@dataclass(frozen=True)
class Batch:
    """Sequences `[CLS] query [SEP] document [SEP]`, padded: int64 [sequences, longest].

    `types` is 0 for the query's part and 1 for the document's; `mask` is 1 where not padding.
    """

    ids: Ids
    types: Ids
    mask: Ids


@dataclass(frozen=True)
class Sequences:
    """Sequences `[CLS] query [SEP] document [SEP]` end to end, the longest first.

    Attributes:
        ids: word pieces, int64 [tokens].
        types: 0 for the query's part and 1 for the document's, int64 [tokens].
        lengths: int64 [sequences], never rising.
        rows: the pair that each sequence was made from, int64 [sequences].
        pad: the id that `padded` fills up with.
    """

    ids: Ids
    types: Ids
    lengths: Ids
    rows: Ids
    pad: int = 0

    def __len__(self) -> int:
        return len(self.lengths)

    def positions(self) -> Ids:
        """Return the place of each token in its sequence, from 0, int64 [tokens]."""
        starts = np.cumsum(self.lengths) - self.lengths
        places: Ids = np.arange(len(self.ids)) - np.repeat(starts, self.lengths)
        return places

    def padded(self) -> Batch:
        """Return the same sequences, in the same order, each padded to the longest."""
        mask = np.arange(int(self.lengths[0])) < self.lengths[:, None]
        ids = np.full(mask.shape, self.pad, dtype=np.int64)
        types = np.zeros(mask.shape, dtype=np.int64)
        ids[mask], types[mask] = self.ids, self.types
        return Batch(ids, types, mask.astype(np.int64))


class Texts:
    """The token ids of one file of texts."""

    def __init__(self, folder: Path, name: str) -> None:
        self.ids = read_array(folder / f"{name}.ids.npy")
        self.offsets = read_array(folder / f"{name}.offsets.npy")
        if not len(self.offsets) or self.offsets[-1] != len(self.ids):
            needed = self.offsets[-1] if len(self.offsets) else "offsets"
            raise DataError(
                f"{folder}/{name}.ids.npy: holds {len(self.ids)} ids, need {needed}; "
                "the token store is damaged, delete the folder and make it again."
            )

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def lengths(self, rows: Ids) -> Ids:
        """Return the number of word pieces of each text, uncut, int64 [rows]."""
        lengths: Ids = self.offsets[rows + 1] - self.offsets[rows]
        return lengths


class TokenStore:
    """Queries and documents of a collection as token ids."""

    def __init__(self, folder: Path | str) -> None:
        folder = Path(folder)
        self.queries = Texts(folder, "queries")
        self.documents = Texts(folder, "documents")
        special = read_json(folder / "special.json")
        try:
            self.cls, self.sep, self.pad = (int(special[name]) for name in SPECIAL)
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(
                f"{folder}/special.json: holds no number for {', '.join(SPECIAL)}; the token store "
                "is damaged, delete the folder and make it again."
            ) from error

    def lengths(self, query_rows: Ids, document_rows: Ids, limits: Limits) -> tuple[Ids, Ids]:
        """Return how many word pieces of each query and of each document a sequence keeps."""
        query = np.minimum(self.queries.lengths(query_rows), limits.query)
        room = np.full_like(query, limits.document)
        if limits.sequence is not None:
            room = np.minimum(room, limits.sequence - 3 - query)
        return query, np.minimum(self.documents.lengths(document_rows), room)

    def sequences(self, query_rows: Ids, document_rows: Ids, limits: Limits) -> Sequences:
        """Return the sequences of pairs (row of the query, row of the document), longest first."""
        query, document = self.lengths(query_rows, document_rows, limits)
        rows = np.argsort(-(query + document), kind="stable")
        query, document = query[rows], document[rows]
        lengths = query + document + 3
        column = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        separator, end = np.repeat(query + 1, lengths), np.repeat(lengths - 1, lengths)
        in_query = (column > 0) & (column < separator)
        in_document = (column > separator) & (column < end)
        ids = np.full(len(column), self.sep, dtype=np.int64)
        ids[column == 0] = self.cls
        source = np.repeat(self.queries.offsets[query_rows[rows]], lengths) + column - 1
        ids[in_query] = self.queries.ids[source[in_query]]
        source = np.repeat(self.documents.offsets[document_rows[rows]], lengths) + column
        ids[in_document] = self.documents.ids[(source - separator - 1)[in_document]]
        return Sequences(ids, (column > separator).astype(np.int64), lengths, rows, self.pad)


def read_tokenizer(file: Path | str) -> "Tokenizer":
    """Return the tokenizer of a file: a `tokenizer.json`, or a list of word pieces, `vocab.txt`.

    Beside a list, `do_lower_case` of `tokenizer_config.json` counts (true where it is not told), as
    for transformers' `BertTokenizer`.

    Raises:
        DataError: if the file cannot be read.
    """
    from tokenizers import BertWordPieceTokenizer, Tokenizer

    file = Path(file)
    try:
        if file.suffix == ".json":
            return Tokenizer.from_file(str(file))
        told = file.with_name("tokenizer_config.json")
        lower = read_json(told).get("do_lower_case", True) if told.is_file() else True
        pieces: Tokenizer = BertWordPieceTokenizer(str(file), lowercase=lower)._tokenizer
        return pieces
    except DataError:
        raise
    except Exception as error:  # tokenizers raises nothing more exact
        raise DataError(f"{file}: cannot be read ({error}); fetch it again.") from error


def build(
    documents: Sequence[str], queries: Sequence[str], tokenizer_file: Path | str, folder: Path | str
) -> dict[str, float]:
    """Tokenise texts, uncut and without special tokens, into the store at `folder`.

    Args:
        documents: texts in the order of the collection's file.
        queries: likewise.
        tokenizer_file: as `read_tokenizer` takes it.
        folder: appears whole or not at all.

    Returns:
        Numbers of texts and mean numbers of word pieces.
    """
    tokenizer = read_tokenizer(tokenizer_file)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    kind = np.uint16 if tokenizer.get_vocab_size() <= 2**16 else np.int32
    figures: dict[str, float] = {}
    with atomic_folder(folder) as temporary:
        for name, texts in (("documents", documents), ("queries", queries)):
            encoded = [
                encoding.ids
                for start in range(0, len(texts), 1024)
                for encoding in tokenizer.encode_batch(
                    list(texts[start : start + 1024]), add_special_tokens=False
                )
            ]
            offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
            np.cumsum([len(ids) for ids in encoded], out=offsets[1:])
            flat = np.fromiter((i for ids in encoded for i in ids), kind, count=int(offsets[-1]))
            np.save(temporary / f"{name}.ids.npy", flat, allow_pickle=False)
            np.save(temporary / f"{name}.offsets.npy", offsets, allow_pickle=False)
            figures |= {name: len(texts), f"{name}_mean_tokens": float(np.diff(offsets).mean())}
        special = {name: tokenizer.token_to_id(name) for name in SPECIAL}
        write_json(temporary / "special.json", special)
    return figures
