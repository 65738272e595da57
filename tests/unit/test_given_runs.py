"""Runs from files: official formats, order, ranks, and what is wrong with them."""

import gzip
import io
import tarfile

import numpy as np
import pandas as pd
import pytest

from poolbias.config.given_runs import GivenRuns, is_ranked, name_of, sources
from poolbias.errors import DataError
from poolbias.formats import read_run
from poolbias.retrieval.given_runs import Plan, bring, rows_of

QUERIES = pd.DataFrame({"query_id": ["7", "3", "5"], "split": ["train", "dev", "test"]})


def brought(folder, files, plan):
    outputs = {name: folder / f"{name}.run.gz" for name in ("train", "dev", "test")}
    told = bring(files, QUERIES, outputs | {"no_hits": folder / "no_hits.tsv"}, plan)
    runs = [read_run(outputs[name]) for name in ("train", "dev", "test")]
    return told, runs


def test_lines_in_any_order_become_runs_in_canonical_order(tmp_path):
    rows = [(q, f"d{n}", n % 4) for q in ("5", "7", "99") for n in range(8)]
    np.random.default_rng(1).shuffle(rows)
    path = tmp_path / "a.run"
    path.write_text("".join(f"{q} Q0 {d} 0 {s} tag\n" for q, d, s in rows))
    for buckets in (1, 2, 256):
        told, (train, dev, test) = brought(tmp_path, [path], Plan(5, True, "given", buckets))
        assert told == {"queries": 3, "rows": 10, "rows_of_other_queries": 8, "no_hits": 1}
        assert dev.empty
        expected = ["d3", "d7", "d2", "d6", "d1"]  # by score, then by id
        for run in (train, test):
            assert run["document_id"].tolist() == expected
            assert run["rank"].tolist() == [1, 2, 3, 4, 5]
            assert run["score"].tolist() == [3, 3, 2, 2, 1]
        assert (tmp_path / "no_hits.tsv").read_text() == "query_id\tsplit\n3\tdev\n"
    assert not list(tmp_path.glob(".buckets*"))


def test_top1000_has_no_ranks(tmp_path):
    content = "".join(
        f"{q}\td{n}\tquery\ta text\twith tab\n" for q in "73" for n in (2, 1)
    ).encode()
    with tarfile.open(tmp_path / "top1000.dev.tar.gz", "w:gz") as archive:
        info = tarfile.TarInfo("top1000.dev")
        info.size = len(content)
        archive.addfile(info, io.BytesIO(content))
    (tmp_path / "t.tsv.gz").write_bytes(gzip.compress(b"5\td9\tquery\ttext\n"))
    files = [tmp_path / "top1000.dev.tar.gz", tmp_path / "t.tsv.gz"]
    _, (train, dev, test) = brought(tmp_path, files, Plan(10, False, "official"))
    assert train["document_id"].tolist() == dev["document_id"].tolist() == ["d1", "d2"]
    assert set(train["score"]) == {0.0}
    assert test["document_id"].tolist() == ["d9"]


def test_ranks_of_a_table_give_the_order(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text("7\td1\t2\n7\td2\t1\n7\td3\t3\n")
    _, (train, _, _) = brought(tmp_path, [path], Plan(10, True, "given"))
    assert train["document_id"].tolist() == ["d2", "d1", "d3"]
    assert train["score"].tolist() == [-1, -2, -3]


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("a.run", "7 Q0 d1 1 2.5\n", "a.run:1: found 5 columns"),
        ("a.run", "7 Q0 d1 1 2.5 t\n7 Q0 d2 2 x t\n", "a.run:2: could not convert"),
        ("a.tsv", "7\n", "a.tsv:1: found 1 columns"),
        ("a.tsv", "7\td1\tx\n", "a.tsv:1: invalid literal"),
        ("a.run", "8 Q0 d1 1 2.5 t\n", "no row is of a query of this collection"),
        ("a.run", "7 Q0 d1 1 2.5 t\n7 Q0 d1 2 1.5 t\n", "query 7 lists document d1 twice"),
        ("a.run.gz", "no gzip", "a.run.gz: cannot be read"),
    ],
)
def test_what_is_wrong_with_a_run_is_told(tmp_path, name, content, told):
    (tmp_path / name).write_text(content)
    with pytest.raises(DataError) as error:
        brought(tmp_path, [tmp_path / name], Plan(10, True, "given"))
    assert told in str(error.value)


def test_an_empty_archive_is_told(tmp_path):
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz"):
        pass
    with pytest.raises(DataError, match="holds no file"):
        list(rows_of(tmp_path / "a.tar.gz"))


def test_official_runs_are_named_for_what_they_are():
    official = GivenRuns(official=True)
    assert name_of(official, "msmarco-passage") == "official-bm25-top1000"
    assert name_of(official, "msmarco-document") == "official-indri-top100"
    assert not is_ranked(official, "msmarco-passage")
    assert is_ranked(official, "msmarco-document")
    own = GivenRuns(folder="runs/ANCE FirstP")
    assert (name_of(own, "beir"), is_ranked(own, "beir")) == ("given-ance-firstp", True)
    assert sources("msmarco-passage", ["dev-small", "trec-dl-2019"]) == [
        "top1000.train.tar.gz", "top1000.dev.tar.gz", "msmarco-passagetest2019-top1000.tsv.gz",
    ]  # fmt: skip
    documents = ["msmarco-doctrain-top100.gz", "msmarco-docdev-top100.gz"]
    assert sources("msmarco-document", ["dev", "trec-dl-2020"]) == documents
