"""Official collections from generated files in exactly the official formats."""

import json

import pytest
from official_files import Official

from poolbias import collections
from poolbias.collections.given import cut_of, write
from poolbias.config.official import (
    DuReaderCollection,
    MsMarcoDocument,
    MsMarcoPassage,
    MsPas,
    NaturalQuestions,
    TriviaQa,
)
from poolbias.errors import DataError
from poolbias.formats import read_qrels
from poolbias.formats.tsv import read_table
from poolbias.unpacking import unpack


def built(folder, section):
    """Build a collection from the official files in a folder, unpacked where its section says."""
    sources = []
    for name in section.sources:
        if name.endswith("/"):
            target = folder / "unpacked" / name
            unpack(folder / name.rstrip("/"), target, 10**7)
            sources.append(target)
        else:
            sources.append(folder / name)
    sources += [folder / path.rpartition("/")[2] for path in getattr(section, "files", {}).values()]
    parameters = section.model_dump()
    found = collections.build(parameters.pop("kind"), parameters, sources)
    names = ("documents", "pool_documents", "queries", "truth", "statistics")
    write(found, cut_of(parameters), {name: folder / name for name in names})
    documents = read_table(folder / "documents", ["document_id", "text"])
    return (
        dict(zip(documents["document_id"], documents["text"], strict=True)),
        read_table(folder / "queries", ["query_id", "text", "split", "kind"]),
        read_qrels(folder / "truth"),
        json.loads((folder / "statistics").read_text()),
    )


def test_msmarco_passages_with_both_years(tmp_path):
    made = Official(tmp_path).passages()
    section = MsMarcoPassage(
        test=["dev-small", "trec-dl-2019", "trec-dl-2020"], held_out=4, check=False
    )
    documents, queries, truth, told = built(tmp_path, section)
    assert documents["0"].startswith("It’s ")  # repaired
    assert list(documents) == list(made["documents"])
    by_kind = queries.groupby("kind")["query_id"].apply(list).to_dict()
    assert by_kind["dev-small"] == made["sets"]["dev-small"]
    assert by_kind["trec-dl-2019"] == made["sets"][2019]
    assert sorted(by_kind["train"]) == sorted(made["sets"]["train"])
    assert queries["split"].value_counts().to_dict() == {"train": 12, "dev": 4, "test": 18}
    grades = truth[truth["query_id"].isin(made["sets"][2020])]["grade"].value_counts().to_dict()
    assert grades == {0: 12, 1: 6, 2: 6, 3: 6}
    assert told["judged_queries_of_train"] == 16
    assert section.sets["trec-dl-2019"] == "trec-dl-2019-passage"
    assert section.relevant_from == {"trec-dl-2019": 2, "trec-dl-2020": 2}


def test_a_set_for_estimates_joins_dev(tmp_path):
    made = Official(tmp_path).passages()
    section = MsMarcoPassage(held_out=4, check=False)
    assert section.deep == {"test": ["trec-dl-2019"], "dev": ["trec-dl-2020"]}
    _, queries, _, _ = built(tmp_path, section)
    deep = queries[queries["kind"] == "trec-dl-2020"]
    assert deep["query_id"].tolist() == made["sets"][2020]
    assert set(deep["split"]) == {"dev"}


def test_counts_of_official_files_are_checked(tmp_path):
    Official(tmp_path).passages()
    with pytest.raises(DataError, match=r"documents: found 60, need 8841823 as in the official"):
        built(tmp_path, MsMarcoPassage(held_out=2))


def test_msmarco_documents_joined_in_several_ways(tmp_path):
    made = Official(tmp_path).web_documents()
    url, title, body = made["documents"]["D7"]
    ways = [
        ({}, f"{url} {title} {body} last line"),
        ({"separator": " <sep> "}, f"{url} <sep> {title} <sep> {body} last line"),
        ({"fields": ["title", "body"]}, f"{title} {body} last line"),
        ({"characters": 20}, f"{url} {title} {body}"[:20]),
    ]
    for number, (options, text) in enumerate(ways):
        folder = tmp_path / str(number)
        Official(folder).web_documents()
        documents, queries, truth, _ = built(
            folder, MsMarcoDocument(held_out=4, check=False, estimation=None, **options)
        )
        assert documents["D7"] == text
    assert set(queries["kind"]) == {"train", "dev", "trec-dl-2019"}
    assert queries["split"].value_counts().to_dict() == {"train": 12, "dev": 4, "test": 12}
    assert len(truth) == 16 + 6 + 30


def test_dureader_finds_training_positives_by_their_text(tmp_path):
    made = Official(tmp_path).dureader()
    documents, queries, truth, told = built(tmp_path, DuReaderCollection(held_out=4, check=False))
    assert documents == dict(zip(made["ids"], made["texts"], strict=True))
    text_of = dict(zip(queries["query_id"], queries["text"], strict=True))
    held = {}
    for query, document, grade in truth.itertuples(index=False):
        held.setdefault(text_of[query], set()).add(documents[document])
        assert grade == 1
    expected = {query: set(positives) for query, positives in made["train"].items()}
    expected |= {
        text: {made["texts"][n] for n in relevant} for text, relevant in made["dev"].values()
    }
    assert held == expected
    assert (told["positives_not_found"], told["positives_of_several_passages"]) == (0, 0)
    assert DuReaderCollection().sets == {"dev": "dureader-retrieval/dev"}


@pytest.mark.parametrize(("name", "section"), [("nq", NaturalQuestions), ("trivia", TriviaQa)])
@pytest.mark.parametrize("positives", ["first", "all"])
def test_dprs_records(tmp_path, name, section, positives):
    made = Official(tmp_path).dpr(name)
    documents, queries, truth, told = built(
        tmp_path, section(held_out=4, check=False, positives=positives)
    )
    text, title = made["passages"]["5"]
    assert documents["5"] == f"{title} {text}"
    assert told["records_of_train"] == 16
    assert told["records_without_positive_of_train"] == 1
    assert queries["split"].value_counts().to_dict() == {"train": 11, "dev": 4, "test": 5}
    held = truth[truth["query_id"] == "dev-0"]["document_id"].tolist()
    assert held == made["sets"]["dev"][0][: 1 if positives == "first" else 2]


def test_titled_passages_of_rocketqa(tmp_path):
    (tmp_path / "para.txt").write_text("0\tone\n1\ttwo\n")
    (tmp_path / "para.title.txt").write_text("0\tA\n1\t\n")
    (tmp_path / "train.query.txt").write_text("t1\tx\nt2\ty\n")
    (tmp_path / "dev.query.txt").write_text("v1\tz\n")
    (tmp_path / "qrels.train.tsv").write_text("t1\t0\t0\t1\nt2\t0\t1\t1\n")
    (tmp_path / "qrels.train.addition.tsv").write_text("t1\t0\t1\t1\n")
    (tmp_path / "qrels.dev.tsv").write_text("v1\t0\t0\t1\n")
    section = MsPas(folder=str(tmp_path), held_out=1, check=False, additional=True)
    documents, _, truth, _ = built(tmp_path, section)
    assert documents == {"0": "A one", "1": "two"}
    assert len(truth) == 4
    (tmp_path / "para.title.txt").write_text("0\tA\n7\tB\n")
    with pytest.raises(DataError, match=r"para.title.txt:2: found id 7, need 1"):
        built(tmp_path, section)


def test_a_missing_member_is_told(tmp_path):
    official = Official(tmp_path)
    official.tar("collectionandqueries.tar.gz", {"collection.tsv": "1\tx\n"})
    with pytest.raises(DataError, match=r"queries\.train\.tsv: is not among"):
        built(tmp_path, MsMarcoPassage(test=["dev-small"], estimation=None, check=False))
