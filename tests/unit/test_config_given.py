"""Study files with collections that come with judgements: what fits, and what does not."""

import pytest
import yaml

from poolbias.config.experiments import expand, folder, pool_key
from poolbias.config.given import BeirCollection
from poolbias.config.load import load
from poolbias.config.official import MsMarcoPassage
from poolbias.errors import ConfigError

STUDY = {
    "study": "mine", "device": "cpu", "precision": "float32",
    "collections": {"passage": {"kind": "msmarco-passage"}},
    "retrievers": {
        "bm25": {"kind": "given", "official": True},
        "mine": {"kind": "given", "folder": "runs/mine"},
        "lucene": {"kind": "bm25"},
        "outside": {"kind": "bm25", "documents": "pool_documents"},
    },
    "pools": {"given": {"retrievers": []}},
    "rankers": {"bert": {"kind": "bert"}},
    "training": {},
    "evaluation": {},
    "figures": {"figure_1": {"retrievers": ["bm25", "mine"]}},
    "experiments": [{"retriever": ["bm25", "mine"], "method": "naive"}],
}  # fmt: skip


def loaded(tmp_path, **changes):
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump(STUDY | changes, sort_keys=False))
    return load(path)


def test_a_study_of_official_files_loads_and_names_are_short(tmp_path):
    study = loaded(tmp_path)
    assert pool_key(study, "given") == "given"
    assert folder(study.collections["passage"]) == "msmarco-passage"
    assert folder(study.retrievers["bm25"]).startswith("official-")
    names = [experiment.name for experiment in expand(study)]
    assert names[0].startswith("msmarco-passage.official.naive.bert-")


def test_where_files_come_from_and_how_many_jobs_tokenise_them_changes_no_name(tmp_path):
    plain = MsMarcoPassage()
    assert folder(MsMarcoPassage(shards=3, reranked=10)) == folder(plain)
    assert folder(MsMarcoPassage(repair="none")) != folder(plain)
    names = {folder(BeirCollection(folder=name)) for name in ("/a/SciFact", "/b/SciFact")}
    assert len(names) == 2
    assert all(name.startswith("beir-scifact-") for name in names)
    first = [e.name for e in expand(loaded(tmp_path))]
    assert [e.name for e in expand(loaded(tmp_path, sources={"folder": "/data"}))] == first


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        (
            {"experiments": [{"retriever": "mine", "method": "oracle"}]},
            "found 'oracle' with the collection 'passage', where not all that is relevant is",
        ),
        (
            {"experiments": [{"retriever": "mine", "method": "ideal_propensity"}]},
            "which needs to know what annotators saw",
        ),
        (
            {"experiments": [{"retriever": "bm25", "method": "rance"}]},
            "official files list documents in random order, without ranks; use a run that has them",
        ),
        (
            {"collections": {"passage": {"kind": "msmarco-passage", "estimation": None}},
             "experiments": [{"retriever": "mine", "method": "rance"}]},
            "has no deeply judged queries in dev to estimate P_relevant(r) on",
        ),
        (
            {"collections": {"own": {"kind": "beir", "folder": "x"}}},
            "found 'bm25', the organisers' runs, with a collection of kind beir",
        ),
        (
            {"pools": {"given": {"retrievers": ["lucene"]}}},
            "annotators cannot be simulated; write []",
        ),
        (
            {"collections": {"own": {"kind": "beir", "folder": "x", "complete": True}},
             "pools": {"given": {"retrievers": ["outside"]}},
             "experiments": [{"retriever": "mine", "method": "oracle"}]},
            "searches pool_documents; the collection 'own' has none",
        ),
        (
            {"collections": {"hpo": {"kind": "hpo"}},
             "experiments": [{"retriever": "mine", "method": "naive"}]},
            "found [], need a retriever: the collection 'hpo' has no judgements but its truth",
        ),
        (
            {"retrievers": STUDY["retrievers"] | {"bm25": {"kind": "given"}}},
            "found both official and folder, or neither, need one of them",
        ),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_told(tmp_path, changes, told):
    with pytest.raises(ConfigError) as error:
        loaded(tmp_path, **changes)
    assert told in str(error.value)


def test_what_fits_is_not_told(tmp_path):
    loaded(tmp_path, experiments=[{"retriever": "mine", "method": "rance"}])
    halves = {"name": "rance", "queries": "halves"}
    loaded(tmp_path, experiments=[{"retriever": "mine", "method": halves}])
    own = {"own": {"kind": "beir", "folder": "x", "complete": True}}
    loaded(tmp_path, collections=own, experiments=[{"retriever": "mine", "method": "oracle"}])
