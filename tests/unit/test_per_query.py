"""Per-query files of several systems as one frame, against hand-made files."""

import pandas as pd
import pytest

from poolbias.errors import ConfigError, DataError
from poolbias.evaluation.per_query import SYSTEM, read_queries, read_systems, spell
from poolbias.formats.tsv import write_table

QUERIES = pd.DataFrame(
    [("c", "a", "t1"), ("c", "b", "t1"), ("other", "a", "t9")],
    columns=["collection", "query_id", "group"],
)
CET = {
    "experiment": "c.dense.cet-paper-tau1.bert-1",
    "collection": "c",
    "pool": "outside",
    "retriever": "dense",
    "method": "cet-paper-tau1",
    "name": "cet",
    "ranker": "bert",
    "seed": 1,
    "judgements": "truth",
}
RUN = CET | {"experiment": "run", "method": "run", "name": "run", "ranker": "-", "seed": 0}


def write(folder, name, *rows):
    path = folder / f"{name}.tsv"
    write_table(path, pd.DataFrame(rows, columns=["query_id", "measure", "value"]))
    return path


@pytest.fixture
def files(tmp_path):
    return [
        write(tmp_path, "cet", ("a", "RR@10", 0.5), ("b", "RR@10", 0.25)),
        write(
            tmp_path,
            "run",
            ("b", "RR@10", 1),
            ("a", "RR@10", 0),
            ("a", "R@100", 1),
            ("b", "R@100", 1),
        ),
    ]


def test_every_row_says_what_it_is_of(files):
    frame = read_systems(files, [CET, RUN], QUERIES)
    assert list(frame.columns) == [*SYSTEM, "query_id", "group", "measure", "value"]
    assert frame["method"].tolist() == ["cet-paper-tau1"] * 2 + ["run"] * 4
    assert frame["seed"].tolist() == [1, 1, 0, 0, 0, 0]
    assert frame["group"].tolist() == ["t1"] * 6
    assert frame["value"].tolist() == [0.5, 0.25, 1.0, 0.0, 1.0, 1.0]
    assert frame["value"].dtype == "float64"
    assert frame["seed"].dtype == "int64"
    first = {name: frame[name].iloc[0] for name in SYSTEM}
    assert first == CET
    assert frame[frame["name"] == "cet"]["query_id"].tolist() == ["a", "b"]
    assert spell(CET) == "dense cet-paper-tau1 bert"
    assert spell(RUN) == "dense run"


def test_groups_are_those_of_the_collection(files):
    with pytest.raises(DataError, match=r"cet\.tsv: query b is not among the queries of other"):
        read_systems(files[:1], [CET | {"collection": "other"}], QUERIES)
    with pytest.raises(DataError, match=r"cet\.tsv: query a is not among the queries of unknown"):
        read_systems(files[:1], [CET | {"collection": "unknown"}], QUERIES)


def test_nothing_is_a_frame_without_rows():
    frame = read_systems([], [], QUERIES)
    assert frame.empty
    assert list(frame.columns) == [*SYSTEM, "query_id", "group", "measure", "value"]


def test_the_first_missing_query_and_its_system_are_named(tmp_path, files):
    short = write(tmp_path, "short", ("b", "RR@10", 0.5))
    naive = CET | {"method": "naive", "name": "naive"}
    told = r"short\.tsv: query a is missing from dense naive bert, which dense cet-paper-tau1 bert"
    with pytest.raises(DataError, match=told):
        read_systems([files[0], short], [CET, naive], QUERIES)
    with pytest.raises(DataError, match=told):
        read_systems([short, files[0]], [naive, CET], QUERIES)
    with pytest.raises(DataError, match=r"short\.tsv: query a is missing from dense run"):
        read_systems([files[1], short], [RUN | {"retriever": "bm25"}, RUN], QUERIES)
    # by labels, of another pool or of another collection other queries are judged
    for other in ({"judgements": "labels"}, {"pool": "dense"}):
        assert len(read_systems([files[0], short], [CET, naive | other], QUERIES)) == 3


def test_files_and_descriptions_must_fit(files):
    with pytest.raises(ConfigError, match="found 2 files, parameters describe 1"):
        read_systems(files, [CET], QUERIES)
    lacking = {name: value for name, value in CET.items() if name != "pool"}
    with pytest.raises(ConfigError, match=r"cet\.tsv: its description lacks 'pool'"):
        read_systems(files[:1], [lacking], QUERIES)
    with pytest.raises(ConfigError, match=r"both said to be of dense cet-paper-tau1 bert, seed 1"):
        read_systems(files, [CET, CET], QUERIES)
    assert len(read_systems([files[0]] * 2, [CET, CET | {"seed": 2}], QUERIES)) == 4


def test_queries_carry_their_collection(tmp_path):
    for name in ("first", "second"):
        rows = [(f"{name}1", "text", "g")]
        frame = pd.DataFrame(rows, columns=["query_id", "text", "group"])
        write_table(tmp_path / f"{name}.tsv", frame)
    paths = [tmp_path / "first.tsv", tmp_path / "second.tsv"]
    assert read_queries(paths, ["c", "d"]).to_numpy().tolist() == [
        ["first1", "g", "c"],
        ["second1", "g", "d"],
    ]
    with pytest.raises(ConfigError, match="found 2 files for 1 collections"):
        read_queries(paths, ["c"])
