"""Retrievers of a study file: what they are named by, and what must fit together."""

import copy
from pathlib import Path

import pytest

from poolbias.config import experiments
from poolbias.config.load import load
from poolbias.config.retrievers import Bm25Retriever, DenseRetriever, RunRetriever
from poolbias.config.study import Study
from poolbias.errors import ConfigError

ROOT = Path(__file__).resolve().parents[2]
TRAINED = {"kind": "trained", "architecture": "repbert", "pool": "outside"}
STUDY = {
    "study": "mine",
    "collections": {"hpo": {"kind": "hpo"}},
    "retrievers": {
        "bm25": {"kind": "bm25"},
        "outside": {"kind": "bm25", "documents": "pool_documents"},
        "repbert": TRAINED,
        "star": TRAINED
        | {
            "architecture": "star",
            "start": "repbert",
            "negatives": "static",
            "negatives_from": "bm25",
        },
        "adore": TRAINED
        | {"architecture": "adore", "start": "star", "negatives": "dynamic", "loss": "lambda"},
    },
    "pools": {"outside": {"retrievers": ["outside"]}},
    "rankers": {"bert": {"kind": "bert"}},
    "training": {"steps": 4},
    "evaluation": {},
    "figures": {"figure_1": {"retrievers": ["bm25", "adore"]}},
    "experiments": [{"retriever": ["bm25", "adore"], "method": "naive"}],
}


def changed(**retrievers):
    """Return the study with keys of retrievers changed, or retrievers added."""
    found = copy.deepcopy(STUDY)
    for name, keys in retrievers.items():
        found["retrievers"].setdefault(name, {}).update(keys)
    return found


def folders(raw):
    study = Study.model_validate(raw)
    return {name: experiments.folder(each) for name, each in study.retrievers.items()}


def problems(tmp_path, raw):
    import yaml

    path = tmp_path / "study.yaml"
    path.write_text(yaml.safe_dump(raw, sort_keys=False))
    with pytest.raises(ConfigError) as caught:
        load(path)
    return str(caught.value)


def test_a_folder_follows_from_all_that_a_retriever_is_made_from():
    base = folders(STUDY)
    assert base["bm25"] == "bm25"
    assert len(set(base.values())) == 5
    assert [base[name].partition("-")[0] for name in ("repbert", "star", "adore")] == [
        *("repbert", "star", "adore")
    ]
    seed = folders(changed(repbert={"seed": 2}))
    assert all(seed[name] != base[name] for name in ("repbert", "star", "adore"))
    k1 = folders(changed(bm25={"k1": 1.2}))
    assert k1["repbert"] == base["repbert"]
    assert all(k1[name] != base[name] for name in ("star", "adore"))
    pool = folders(changed(outside={"k1": 1.2}))
    assert all(pool[name] != base[name] for name in ("repbert", "star", "adore"))


def test_a_folder_does_not_follow_from_names():
    renamed = copy.deepcopy(STUDY)
    retrievers = renamed["retrievers"]
    retrievers["first"] = retrievers.pop("repbert")
    retrievers["star"] = retrievers["star"] | {"start": "first"}
    retrievers = renamed["retrievers"]
    retrievers["annotators"] = retrievers.pop("outside")
    renamed["pools"] = {"other": {"retrievers": ["annotators"]}}
    for name in ("first", "star", "adore"):
        retrievers[name] = retrievers[name] | {"pool": "other"}
    assert folders(renamed)["adore"] == folders(STUDY)["adore"]


def test_what_changes_no_result_changes_no_name():
    expected = {"expected": {"measure": "R@100", "value": 0.5}}
    base, found = (
        folders(changed(dense={"kind": "dense", **more}, away={"kind": "run", "run": "x", **gate}))
        for more, gate in (({}, {}), ({"shards": 4, "memory": 9} | expected, expected))
    )
    assert base == found
    assert experiments.folder(DenseRetriever()) == "dense"
    assert experiments.folder(Bm25Retriever(**expected)) == "bm25"


def test_one_path_may_stand_for_the_three_splits():
    run = RunRetriever(run="runs/{split}.tsv")
    assert run.splits == ["runs/train.tsv", "runs/dev.tsv", "runs/test.tsv"]
    assert RunRetriever(run="all.run").splits == ["all.run"]


@pytest.mark.parametrize(
    ("retrievers", "told"),
    [
        (
            {"repbert": {"start": "star"}},
            "retrievers.repbert: found a circle: by `start`, `negatives_from` or the pool's "
            "retrievers it needs itself",
        ),
        ({"star": {"start": "bm25"}}, "retrievers.star.start: found 'bm25', need a published"),
        ({"star": {"pool": "x"}}, "retrievers.star.pool: found 'x', need a pool"),
        (
            {"star": {"negatives_from": "x"}},
            "retrievers.star.negatives_from: found 'x', need a retriever",
        ),
        (
            {"star": {"negatives_from": None}},
            "retrievers.star.negatives_from: found null (no value) where negatives are "
            "'static', need a retriever; only `static` negatives come from a run.",
        ),
        (
            {"repbert": {"negatives_from": "bm25"}},
            "retrievers.repbert.negatives_from: found 'bm25' where negatives are 'in_batch', need "
            "null",
        ),
        (
            {"star": {"negatives_depth": 201}},
            "retrievers.star.negatives_depth: found 201, need at most 200, the depth of retriever "
            "'bm25'; lower it.",
        ),
        (
            {"repbert": {"rounds": 2}},
            "retrievers.repbert.rounds: found 2 where negatives are 'in_batch', need 1",
        ),
        (
            {"repbert": {"loss": "lambda"}},
            "retrievers.repbert.loss: found 'lambda' with negatives 'in_batch', need `lambda` with",
        ),
        (
            {"repbert": {"loss": "pairwise"}},
            "retrievers.repbert.loss: found 'pairwise' with negatives 'in_batch', need `static` or",
        ),
        (
            {"repbert": {"group": "own"}},
            "retrievers.repbert.group: found 'own' with negatives 'in_batch', need `static` or",
        ),
        (
            {"star": {"coupling": {"form": "paper"}}},
            "retrievers.star.coupling: found coupled weights with loss 'softmax', need loss",
        ),
        (
            {"adore": {"architecture": "star"}},
            "retrievers.adore.architecture: found 'star' with negatives 'dynamic', need `adore`",
        ),
        (
            {"adore": {"start": "all-MiniLM-L6-v2"}},
            "retrievers.adore.start: found 'all-MiniLM-L6-v2', need a trained retriever",
        ),
        (
            {"away": {"kind": "run", "run": "{splits}.tsv"}},
            "retrievers.away.run: found '{splits}.tsv', need no braces but {split}",
        ),
        (
            {"bm25": {"expected": {"measure": "R@100", "value": 0.5, "pool": "x"}}},
            "retrievers.bm25.expected.pool: found 'x', need a pool",
        ),
        (
            {"bm25": {"expected": {"measure": "Recall@100", "value": 0.5}}},
            "retrievers.bm25.expected.measure: found 'Recall@100', need a measure as ir-measures "
            "spells it, such as R@1000; correct the value.",
        ),
    ],
)
def test_what_does_not_fit_is_told(tmp_path, retrievers, told):
    assert told in problems(tmp_path, changed(**retrievers))


def test_the_study_of_retrievers_trains_on_five_and_shares_the_default_ones_names():
    study = load(ROOT / "config" / "hpo-retrievers.yaml")
    default = load(ROOT / "config" / "config.yaml")
    names = {row.retriever for row in experiments.rows(study)}
    assert len(names) == 5
    shared = {e.name for e in experiments.expand(default)} & {
        e.name for e in experiments.expand(study)
    }
    assert len(shared) >= 4  # naive on both, oracle and both forms of CET on the dense one
