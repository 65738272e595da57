import contextlib
import math
import subprocess
import sys
from collections import Counter

import numpy as np
import pandas as pd
import pytest

from poolbias.errors import DataError, ToolError
from poolbias.retrieval import bm25

# Words that stemmer and stop list leave alone; lengths below 40, which Lucene keeps exactly.
DOCUMENTS = {
    "d1": "lamp river stone",
    "d2": "lamp lamp garden",
    "d3": "river river river garden lamp window",
    "d4": "stone",
    "d5": "window garden window stone river salt salt salt",
    "d6": "café naïf",
    "d7": "",
    **{f"tie{number:03d}": "copper copper" for number in range(150)},
    "tie999": "copper copper iron",
}
QUERIES = {
    "HP_0001369.layperson-1": "river lamp",
    "twice": "salt salt window",
    "odd": '+lamp -river && (stone || "garden") ! {window} [salt]^2 ~ * ? : \\ / text: iron OR',
    "plain": "lamp river stone garden window salt text iron or",
    "tabs": " lamp\triver\u2028stone\r\ngarden\u00a0window",
    "accents": "NAÏF café",
    "wildcards": "riv* lam? stoen~",
    "ties": "copper",
    "blank": " \t",
    "stops": "the of and",
    "unknown": "zebra",
}
K1, B = 0.9, 0.4


def oracle(query: str) -> dict[str, float]:
    """Lucene's BM25 in plain Python; a word's weight in a query is how often it stands there."""
    words = {document: text.split() for document, text in DOCUMENTS.items() if text}
    average = sum(map(len, words.values())) / len(words)
    scores: Counter[str] = Counter()
    for word, times in Counter(query.split()).items():
        having = [document for document in words if word in words[document]]
        idf = math.log(1 + (len(words) - len(having) + 0.5) / (len(having) + 0.5))
        for document in having:
            frequency, length = words[document].count(word), len(words[document])
            norm = K1 * (1 - B + B * length / average)
            scores[document] += times * idf * frequency / (frequency + norm)
    return dict(scores)


@contextlib.contextmanager
def poor_locale():
    """A user whose Java would refuse this path, and write decimal commas where it may."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LC_ALL", "C")
        patch.setenv("JAVA_TOOL_OPTIONS", "-Duser.language=de -Dfile.encoding=ISO-8859-1")
        yield


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bm25-ä")
    lines = [f"{document}\t{text}\n" for document, text in DOCUMENTS.items()]
    (folder / "documents.tsv").write_text("document_id\ttext\n" + "".join(lines), encoding="utf-8")
    (folder / "index").mkdir()
    (folder / "index" / "of_old").touch()
    with poor_locale():
        indexed = bm25.build_index(folder / "documents.tsv", folder / "index")
    assert indexed == len(DOCUMENTS) - 1
    assert sorted(path.name for path in folder.iterdir()) == ["documents.tsv", "index"]
    assert not (folder / "index" / "of_old").exists()
    return folder / "index"


@pytest.fixture(scope="module")
def found(index):
    with poor_locale():
        queries = pd.DataFrame({"query_id": list(QUERIES), "text": list(QUERIES.values())})
        return bm25.search(index, queries, K1, B, depth=120, threads=2)


def ranking(found, query_id) -> dict[str, float]:
    rows = found[0][found[0]["query_id"] == query_id]
    return dict(zip(rows["document_id"], rows["score"].astype(float), strict=True))


@pytest.mark.parametrize(
    ("query_id", "words"),
    [
        ("HP_0001369.layperson-1", "river lamp"),
        ("twice", "salt salt window"),
        ("odd", "lamp river stone garden window salt iron"),
        ("tabs", "lamp river stone garden window"),
        ("accents", "café naïf"),
    ],
)
def test_scores_equal_the_formula(found, query_id, words):
    expected, scores = oracle(words), ranking(found, query_id)
    assert list(scores) == sorted(expected, key=lambda document: (-expected[document], document))
    # printed with four decimals, ties nudged by some 1e-6
    assert scores == pytest.approx(expected, abs=6e-5)


def test_operators_are_plain_text(found):
    assert ranking(found, "odd") == ranking(found, "plain")
    assert "wildcards" in found[1]


def test_queries_without_hits_are_told_in_order(found):
    assert found[1] == ["wildcards", "blank", "stops", "unknown"]
    assert list(found[0]["query_id"].unique()) == [key for key in QUERIES if key not in found[1]]


def test_ties_come_by_document_id_and_are_cut_at_depth(found):
    assert list(ranking(found, "ties")) == [f"tie{number:03d}" for number in range(120)]


def test_the_run_is_canonical_in_float32(found):
    run = found[0]
    assert run["score"].dtype == np.float32
    for _, rows in run.groupby("query_id"):
        assert (np.diff(rows["score"].to_numpy()) < 0).all()
        assert rows["rank"].tolist() == list(range(1, len(rows) + 1))


def test_a_nudge_below_the_next_score_does_not_change_the_order():
    scores = [20.5, 20.499999, 20.499998, 20.499999, 0.0, 0.0, -0.000001, 5.0, 5.0]
    run = pd.DataFrame({"query_id": ["a"] * 7 + ["b"] * 2, "score": scores})
    lowered = bm25.strictly_descending(run)["score"].to_numpy()
    below = np.float32(20.5)
    for score in lowered[1:4]:
        below = np.nextafter(below, np.float32(-1))
        assert score == below
    assert lowered[4:7].tolist() == [
        0.0,
        np.nextafter(np.float32(0), np.float32(-1)),
        np.float32(-1e-6),
    ]
    assert lowered[7:].tolist() == [5.0, np.nextafter(np.float32(5), np.float32(0))]


def test_no_text_at_all_needs_no_java(index, monkeypatch):
    monkeypatch.setattr(bm25, "run_java", None)
    queries = pd.DataFrame({"query_id": ["a"], "text": ["  "]})
    run, without = bm25.search(index, queries, K1, B, depth=3, threads=1)
    assert list(run.columns) == ["query_id", "document_id", "rank", "score"]
    assert (len(run), without) == (0, ["a"])


@pytest.mark.parametrize("query_id", ["", "a b", " a"])
def test_query_ids_that_a_run_cannot_hold_are_refused(index, query_id):
    queries = pd.DataFrame({"query_id": [query_id], "text": ["lamp"]})
    with pytest.raises(DataError, match="need one without blanks"):
        bm25.search(index, queries, K1, B, depth=3, threads=1)


def test_a_query_listed_twice_is_refused(index):
    queries = pd.DataFrame({"query_id": ["a", "a"], "text": ["lamp", "river"]})
    with pytest.raises(DataError, match="id 'a' comes twice"):
        bm25.search(index, queries, K1, B, depth=3, threads=1)


def test_a_missing_index_is_an_error_although_anserini_exits_with_0(tmp_path):
    queries = pd.DataFrame({"query_id": ["a"], "text": ["lamp"]})
    with pytest.raises(ToolError, match="does not appear to be a valid index"):
        bm25.search(tmp_path / "nothing", queries, K1, B, depth=3, threads=1)


def test_a_query_that_lucene_refuses_is_an_error_not_a_query_without_hits(index):
    text = " ".join(f"word{number}" for number in range(1100))
    queries = pd.DataFrame({"query_id": ["a", "long"], "text": ["lamp", text]})
    with pytest.raises(ToolError, match="maxClauseCount is set to 1024"):
        bm25.search(index, queries, K1, B, depth=3, threads=1)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("document_id\ttext\na\tx\na\ty\n", ":3: id 'a' comes twice"),
        ("document_id\ttext\na b\tx\n", ":2: found the id 'a b'"),
        ("document_id\ttext\na\tx\ty\n", ":2: found 3 columns, need 2"),
        ("id\ttext\na\tx\n", ":1: found the columns id, text, need document_id"),
        ("document_id\ttext\na\t \n", "no document has a text"),
    ],
)
def test_bad_documents_are_told_with_their_line(tmp_path, text, told):
    (tmp_path / "documents.tsv").write_text(text)
    with pytest.raises(DataError, match=told):
        bm25.build_index(tmp_path / "documents.tsv", tmp_path / "index")
    assert [path.name for path in tmp_path.iterdir()] == ["documents.tsv"]


def test_an_index_that_lacks_documents_is_refused_and_the_old_one_stays(tmp_path, monkeypatch):
    (tmp_path / "documents.tsv").write_text("document_id\ttext\na\tx\nb\ty\n")
    (tmp_path / "index").mkdir()
    (tmp_path / "index" / "of_old").touch()
    monkeypatch.setattr(bm25, "run_java", lambda *_, **__: ["documents:             1"])
    with pytest.raises(ToolError, match="indexed 1 documents, need all 2"):
        bm25.build_index(tmp_path / "documents.tsv", tmp_path / "index")
    assert (tmp_path / "index" / "of_old").exists()


def test_retrieval_without_torch():
    code = (
        "import sys; sys.modules['torch'] = sys.modules['transformers'] = None\n"
        "from poolbias.retrieval import best, bm25, java, runs\n"
        "from poolbias.models import pretrained\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
