"""Token stores made in shards: the same bytes as those made at once."""

import numpy as np
import pytest
from tokenizers import Tokenizer

from poolbias import token_shards, tokens
from poolbias.errors import DataError
from poolbias.files import sha256_of
from poolbias.models.pretrained import folder_of

FILE = folder_of("all-MiniLM-L6-v2") / "tokenizer.json"


@pytest.fixture(scope="module")
def tokenizer():
    found = Tokenizer.from_file(str(FILE))
    found.no_truncation()
    found.no_padding()
    return found


def tables(folder, texts, queries):
    documents, asked = folder / "documents.tsv", folder / "queries.tsv"
    lines = "".join(f"d{n}\t{text}\n" for n, text in enumerate(texts))
    documents.write_text("document_id\ttext\n" + lines)
    lines = "".join(f"q{n}\t{text}\ttrain\n" for n, text in enumerate(queries))
    asked.write_text("query_id\ttext\tsplit\n" + lines)
    return documents, asked


@pytest.mark.parametrize("shards", [1, 2, 3, 7, 40])
def test_any_number_of_shards_makes_the_same_store(tmp_path, tokenizer, shards):
    generator = np.random.default_rng(2)
    words = ["joint", "inflammation", "é", "日本", "unbelievable", ""]
    texts = [" ".join(generator.choice(words, size=n % 9)) for n in range(25)]
    documents, queries = tables(tmp_path, texts, ["a query", "x"])
    parts = [tmp_path / f"shard-{number}" for number in range(shards)]
    told = [
        token_shards.build_shard(documents, number, shards, tokenizer, part)
        for number, part in enumerate(parts)
    ]
    assert sum(shard["texts"] for shard in told) == 25
    figures = token_shards.join(parts, queries, tokenizer, tmp_path / "joined")
    expected = tokens.build(texts, ["a query", "x"], FILE, tmp_path / "whole")
    assert sha256_of(tmp_path / "joined") == sha256_of(tmp_path / "whole")
    assert figures == pytest.approx(expected)


def test_each_line_is_in_one_shard_whatever_its_length(tmp_path):
    for width in range(1, 30):
        documents, _ = tables(tmp_path, ["x" * (n % width) for n in range(17)], [])
        for shards in (2, 5, 13):
            found = [
                text
                for number in range(shards)
                for text in token_shards.lines_of(documents, number, shards)
            ]
            assert found == ["x" * (n % width) for n in range(17)]


def test_the_size_is_predicted(tmp_path, tokenizer):
    texts = ["joint inflammation of the knee"] * 300
    documents, queries = tables(tmp_path, texts, ["a"])
    token_shards.build_shard(documents, 0, 1, tokenizer, tmp_path / "part")
    figures = token_shards.join([tmp_path / "part"], queries, tokenizer, tmp_path / "store")
    size = sum(
        (tmp_path / "store" / f"documents.{n}.npy").stat().st_size for n in ("ids", "offsets")
    )
    assert token_shards.bytes_of(300, figures["documents_mean_tokens"]) == size
    assert token_shards.bytes_of(1000, 50, 100_000) == 1000 * (50 * 4 + 8) + 8 + 256


def test_a_table_without_texts_is_told(tmp_path):
    (tmp_path / "a.tsv").write_text("id\tbody\n1\tx\n")
    with pytest.raises(DataError, match=r"a\.tsv:1: column 'text' is missing"):
        list(token_shards.lines_of(tmp_path / "a.tsv", 0, 1))
