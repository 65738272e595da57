"""The token store: sequences are what a tokenizer would have made of the pair."""

import numpy as np
import pytest

from poolbias import tokens
from poolbias.errors import DataError
from poolbias.models.pretrained import folder_of
from poolbias.tokens import Limits, TokenStore

DOCUMENTS = ["Arthritis: inflammation of a joint.", "Ptosis: a drooping upper eyelid", "x"]
QUERIES = ["Joint inflammation", "drooping eyelids in the morning and the evening"]


@pytest.fixture(scope="module")
def tokenizer_file():
    return folder_of("all-MiniLM-L6-v2") / "tokenizer.json"


@pytest.fixture(scope="module")
def store(tmp_path_factory, tokenizer_file):
    folder = tmp_path_factory.mktemp("tokens")
    tokens.build(DOCUMENTS, QUERIES, tokenizer_file, folder)
    return TokenStore(folder)


def reference(tokenizer_file, query, document, query_tokens, document_tokens):
    """Build one sequence by hand from the tokenizer's own pieces."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(tokenizer_file))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    left = tokenizer.encode(query, add_special_tokens=False).ids[:query_tokens]
    right = tokenizer.encode(document, add_special_tokens=False).ids[:document_tokens]
    cls, sep = tokenizer.token_to_id("[CLS]"), tokenizer.token_to_id("[SEP]")
    ids = [cls, *left, sep, *right, sep]
    return ids, [0] * (len(left) + 2) + [1] * (len(right) + 1)


@pytest.mark.parametrize(("query_tokens", "document_tokens"), [(16, 64), (3, 2), (1, 1)])
def test_sequences_equal_the_tokenizers_own(store, tokenizer_file, query_tokens, document_tokens):
    pairs = [(q, d) for q in range(2) for d in range(3)]
    rows = np.array(pairs, dtype=np.int64)
    limits = Limits(query_tokens, document_tokens)
    found = store.sequences(rows[:, 0], rows[:, 1], limits)
    assert sorted(found.rows) == list(range(len(pairs)))
    assert found.lengths.tolist() == sorted(found.lengths, reverse=True)
    batch, ends = found.padded(), np.cumsum(found.lengths)
    for line, row in enumerate(found.rows):
        query, document = pairs[row]
        ids, types = reference(
            tokenizer_file, QUERIES[query], DOCUMENTS[document], query_tokens, document_tokens
        )
        n = len(ids)
        place = slice(ends[line] - n, ends[line])
        assert found.ids[place].tolist() == batch.ids[line, :n].tolist() == ids
        assert found.types[place].tolist() == batch.types[line, :n].tolist() == types
        assert found.positions()[place].tolist() == list(range(n))
        assert batch.mask[line].tolist() == [1] * n + [0] * (batch.ids.shape[1] - n)
        assert (batch.ids[line, n:] == store.pad).all()
        assert (batch.types[line, n:] == 0).all()
    assert batch.ids.shape[1] == batch.mask.sum(axis=1).max()


def test_a_whole_sequence_limit_cuts_the_document_only(store):
    rows = np.array([1]), np.array([1])
    query, document = store.lengths(*rows, Limits(query=5, document=64, sequence=12))
    assert query.tolist() == [5]
    assert document.tolist() == [4]  # 12 - 3 special tokens - 5 of the query
    assert store.sequences(*rows, Limits(5, 64, 12)).lengths.tolist() == [12]


def test_limits_that_would_cut_a_document_to_nothing_are_refused():
    Limits(query=5, document=1, sequence=9)
    with pytest.raises(DataError, match="need at least 9"):
        Limits(query=5, document=1, sequence=8)
    with pytest.raises(DataError, match="at least one token each"):
        Limits(query=0, document=1)


def test_a_damaged_store_is_told(tmp_path, tokenizer_file):
    tokens.build(DOCUMENTS, QUERIES, tokenizer_file, tmp_path)
    np.save(tmp_path / "documents.ids.npy", np.zeros(3, dtype=np.uint16))
    with pytest.raises(DataError, match=r"documents\.ids\.npy: holds 3 ids"):
        TokenStore(tmp_path)
