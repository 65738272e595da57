import pandas as pd
import pytest

from poolbias.errors import DataError
from poolbias.retrieval.external import read_id_map, take_up

QUERIES = pd.DataFrame({"query_id": ["q1", "q2", "q3"], "split": ["train", "dev", "test"]})
DOCUMENTS = pd.Series(["a", "b", "c"])
RANKED = "q1 a 2\nq1 b 1\nq2\tc\t1\nq2\ta\t2\nq3 b 1\nq3 c 2\n"
TREC = "q1 Q0 a 1 9.5 x\nq1 Q0 b 2 9.5 x\nq2 Q0 c 1 3 x\nq3 Q0 a 1 2 x\nq3 Q0 c 2 1 x\n"


def taken(tmp_path, *texts, depth=2, coverage=1.0, **maps):
    paths = []
    for number, text in enumerate(texts):
        paths.append(tmp_path / f"run-{number}.txt")
        paths[-1].write_text(text)
    return take_up(paths, QUERIES, DOCUMENTS, depth, coverage, **maps)


def rows(run):
    columns = zip(run["query_id"], run["document_id"], run["rank"], run["score"], strict=True)
    return [" ".join(map(str, row)) for row in columns]


def test_ms_marcos_form_is_ordered_by_its_ranks(tmp_path):
    run, figures = taken(tmp_path, RANKED)
    assert rows(run)[:4] == ["q1 b 1 -1.0", "q1 a 2 -2.0", "q2 c 1 -1.0", "q2 a 2 -2.0"]
    assert figures == {"other_queries": 0, "shallow": 0}


def test_trec_runs_in_several_files_are_one_run(tmp_path):
    lines = TREC.splitlines(keepends=True)
    run, figures = taken(tmp_path, "".join(lines[:2]), "".join(lines[2:]))
    assert rows(run) == [
        *("q1 a 1 9.5", "q1 b 2 9.5", "q2 c 1 3.0", "q3 a 1 2.0", "q3 c 2 1.0"),
    ]
    assert figures == {"other_queries": 0, "shallow": 1}
    assert len(taken(tmp_path, TREC, depth=1)[0]) == 3


def test_ids_are_turned_into_ours(tmp_path):
    text = RANKED.replace("q", "10").replace(" a", " 0").replace(" b", " 1").replace(" c", " 2")
    text = text.replace("\ta", "\t0").replace("\tc", "\t2")
    (tmp_path / "q.tsv").write_text("101\tq1\n102\tq2\n103\tq3\n104\tq4\n")
    (tmp_path / "d.tsv").write_text("0 a\n1 b\n2 c\n")
    maps = {
        "query_map": read_id_map(tmp_path / "q.tsv"),
        "document_map": read_id_map(tmp_path / "d.tsv"),
    }
    run, _ = taken(tmp_path, text, **maps)
    assert rows(run) == rows(taken(tmp_path, RANKED)[0])
    with pytest.raises(DataError, match=r"query_id '105' is not in the first column of query_map"):
        taken(tmp_path, text + "105 0 1\n", **maps)
    with pytest.raises(DataError, match=r"document '1' is not in the collection \(nor are 2"):
        taken(tmp_path, text, query_map=maps["query_map"])
    (tmp_path / "d.tsv").write_text("0 a\n0 b\n")
    with pytest.raises(DataError, match=r"d.tsv:2: id 0 stands for a and b, need one"):
        read_id_map(tmp_path / "d.tsv")
    (tmp_path / "d.tsv").write_text("0\n")
    with pytest.raises(DataError, match=r"d.tsv:1: found 1 columns, need 2"):
        read_id_map(tmp_path / "d.tsv")


def test_queries_that_are_not_there_are_told_or_allowed(tmp_path):
    lines = "".join(RANKED.splitlines(keepends=True)[:4])
    with pytest.raises(
        DataError,
        match=r"holds 0 of the 1 queries of split 'test' \(not q3; 1 of its queries are none of "
        r"ours\), need a share of 0.5",
    ):
        taken(tmp_path, lines + "other a 1\n", coverage=0.5)
    run, figures = taken(tmp_path, lines + "other a 1\n", coverage=0.0)
    assert figures["other_queries"] == 1
    assert set(run["query_id"]) == {"q1", "q2"}


def test_a_run_that_is_too_shallow_is_told_and_a_small_collection_is_not(tmp_path):
    with pytest.raises(DataError, match="the deepest list has 2 documents, need 3"):
        taken(tmp_path, RANKED, depth=3)
    deep = RANKED + "q1 c 3\n"
    assert taken(tmp_path, deep, depth=1000)[1] == {"other_queries": 0, "shallow": 3}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("q1 a 1\nq1 b 1\n", r":2: rank 1 stands twice for query q1 \(first on line 1\)"),
        ("q1 a 1\nq1 a 2\n", ":2: document a stands twice for query q1"),
        ("q1 a 0\n", ":1: rank is '0', need a whole number from 1 on"),
        ("q1 a x\n", ":1: rank is 'x'"),
        ("q1 a 1\nq1 b\n", ":2: found 2 columns, need 3"),
        ("q1 a 1 text\n", ":1: found 4 columns, need 6"),
        ("", ":1: found 0 columns"),
        ("q1 Q0 a 1 1.0 x\nq1 Q0 b 2 2.0 x\n", "query q1: the score rises at rank 2"),
    ],
)
def test_files_that_are_no_ranked_runs_are_told(tmp_path, text, told):
    with pytest.raises(DataError, match=told):
        taken(tmp_path, text, coverage=0.0)
