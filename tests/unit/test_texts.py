"""Streams of texts and judgements: the formats that users have, and what is wrong with files."""

import gzip

import pytest

from poolbias.errors import DataError
from poolbias.formats.texts import (
    one_line,
    read_columns,
    read_judgements,
    read_texts,
    repaired,
)


def written(path, content):
    content = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.tsv", "1\tone two\n2\tdrei"),
        ("a.tsv.gz", "1\tone two\n2\tdrei\n"),
        ("a.tsv", "\ufeff1\tone  two \r\n\r\n2\tdrei\tmore\r\n"),
        ("a.jsonl", '{"_id": "1", "text": "one\\ttwo"}\n\n{"id": 2, "text": "drei"}\n'),
        ("a.trec", "<DOC>\n<DOCNO> 1 </DOCNO>\n<TEXT>one\ntwo</TEXT>\n</DOC>\n"
                   "<doc>\n<docno>2</docno>\n<b>drei</b>\n</doc>\n"),
        ("a.trec.gz", "<top>\n<num> Number: 1\n<title> one\ntwo\n<desc> more\n</top>\n"
                      "<top>\n<num>2</num><title>drei</title>\n</top>\n"),
    ],
)  # fmt: skip
def test_one_collection_in_each_format(tmp_path, name, content):
    found = list(read_texts(written(tmp_path / name, content)))
    assert found == [("1", "one two"), ("2", "drei")]


def test_fields_of_json_lines_are_joined_in_order(tmp_path):
    path = written(tmp_path / "a.jsonl", '{"_id": "1", "title": "T", "text": "x"}\n'
                                         '{"_id": "2", "title": "", "text": "y"}\n')  # fmt: skip
    assert list(read_texts(path)) == [("1", "T x"), ("2", "y")]
    assert list(read_texts(path, ("text",))) == [("1", "x"), ("2", "y")]
    assert list(read_texts(path, ("title", "text"), "</s>")) == [("1", "T</s>x"), ("2", "y")]


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("a.tsv", "1\tx\n2\n", "a.tsv:2: found 1 columns, need 2"),
        ("a.tsv", "\tx\n", "a.tsv:1: found the id ''"),
        ("a.tsv", "1 2\tx\n", "a.tsv:1: found the id '1 2'"),
        ("a.jsonl", '{"_id": "1", "text": "x"}\n{', "a.jsonl:2: not JSON"),
        ("a.jsonl", '{"text": "x"}\n', "a.jsonl:1: lacks 'id'"),
        ("a.jsonl", '{"_id": "1"}\n', "a.jsonl:1: lacks 'text'"),
        ("a.jsonl", "[1]\n", "a.jsonl:1: lacks"),
        ("a.trec", "<DOC>\n<TEXT>x</TEXT>\n</DOC>\n", "a.trec:1: need <DOCNO>"),
        ("a.trec", "<DOC>\n<DOCNO>1</DOCNO>\n", "a.trec:1: <doc> has no end"),
        ("a.trec", "text\n", "a.trec:1: found text outside"),
        ("a.trec", "<top>\n<num>1\n</top>\n", "a.trec:1: need <num> and <title>"),
        ("a.tsv", b"1\tcaf\xe9\n", "a.tsv: cannot be read"),
    ],
)
def test_what_is_wrong_is_told_with_file_and_line(tmp_path, name, content, told):
    with pytest.raises(DataError) as error:
        list(read_texts(written(tmp_path / name, content)))
    assert told in str(error.value)


def test_judgements_of_trec_and_of_beir_read_alike(tmp_path):
    trec = written(tmp_path / "a.qrels", "7 0 d1 2\n7 Q0 d2 0\r\n8 0 d1 -1\n")
    beir = written(
        tmp_path / "a.tsv.gz", "query-id\tcorpus-id\tscore\n7\td1\t2\n7\td2\t0\n8\td1\t-1\n"
    )
    expected = [("7", "d1", 2), ("7", "d2", 0), ("8", "d1", -1)]
    assert list(read_judgements(trec)) == list(read_judgements(beir)) == expected
    for content, told in (("7 0 d1 1\n\n1 2\n", "a.bad:3: found 2"), ("7 0 d1 x\n", "a.bad:1: gr")):
        with pytest.raises(DataError, match=told):
            list(read_judgements(written(tmp_path / "a.bad", content)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Itâ€™s 5Â£ in a cafÃ©", "It’s 5£ in a café"),
        ("cafe\u0301 café £5 naïve", "cafe\u0301 café £5 naïve"),  # right already
        ("Ã\x81gua", "Água"),  # a byte that Windows-1252 leaves open
        ("â€ alone", "â€ alone"),  # no whole character: left
        ("日本 â€œxâ€\x9d", "日本 “x”"),
        ("", ""),
    ],
)
def test_mojibake_is_repaired_and_right_text_left(text, expected):
    assert repaired(text) == expected
    assert repaired(expected) == expected


def test_white_space_becomes_one_blank():
    assert one_line("a\u2028b\tc\r\n d\x00e\u3000f ") == "a b c d e f"
    assert one_line(" \n") == ""


def test_columns_keep_their_line_numbers(tmp_path):
    path = written(tmp_path / "a.tsv", "a\tb\n\nc\t\td\n")
    assert list(read_columns(path, 2)) == [(1, ["a", "b"]), (3, ["c", "", "d"])]
