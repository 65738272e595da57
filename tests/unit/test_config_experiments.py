"""From a study file to experiments: products, names, hashes, parameters."""

import copy
import re

import pytest

from poolbias.config.default import STUDY
from poolbias.config.experiments import (
    candidates_key,
    expand,
    folder,
    pool_key,
    rows,
    training_parameters,
)
from poolbias.config.generate import CONFIG, ROOT
from poolbias.config.load import load
from poolbias.config.model import HpoCollection
from poolbias.config.retrievers import Bm25Retriever, DenseRetriever
from poolbias.config.study import Study
from poolbias.errors import ConfigError


def study(experiments, **changes):
    return Study.model_validate(copy.deepcopy(STUDY) | changes | {"experiments": experiments})


def names(experiments, **changes):
    return [experiment.name for experiment in expand(study(experiments, **changes))]


def name(method="naive", training=None, **changes):
    entry = {"retriever": "dense", "method": method, "training": training or {}}
    return names([entry], **changes)[0]


def test_lists_expand_to_products_in_the_order_of_the_file():
    found = expand(
        study(
            [
                {
                    "retriever": ["bm25", "dense"],
                    "method": ["oracle", {"name": "cet", "form": ["paper", "released"]}],
                    "training": {"learning_rate": [1e-4, 2e-4]},
                }
            ]
        )
    )

    told = [(e.retriever, e.label, e.parameters["training"]["learning_rate"]) for e in found]
    labels = ["oracle", "cet-paper-tau1", "cet-released-tau10"]
    assert told == [
        (retriever, label, rate)
        for retriever in ("bm25", "dense")
        for label in labels
        for rate in (1e-4, 2e-4)
    ]
    assert len({e.name for e in found}) == 12


def test_a_value_that_is_a_list_by_itself_stands_for_one():
    one = {"retriever": "dense", "method": "naive", "training": {"betas": [0.9, 0.98]}}
    two = one | {"training": {"betas": [[0.9, 0.98], [0.9, 0.999]]}}

    assert [e.parameters["training"]["betas"] for e in expand(study([one]))] == [[0.9, 0.98]]
    assert [e.parameters["training"]["betas"] for e in expand(study([two]))] == [
        [0.9, 0.98],
        [0.9, 0.999],
    ]


def test_a_readable_name_and_a_hash():
    found = name({"name": "cet", "form": "paper"})

    assert re.fullmatch(r"hpo\.dense\.cet-paper-tau1\.bert-[0-9a-f]{6}", found)


def test_frozen_names_of_the_default_study():
    """A changed name throws away what was trained: change these only with a reason."""
    assert [experiment.name for experiment in expand(load(ROOT / CONFIG))] == [
        "hpo.bm25.naive.bert-8ff925",
        "hpo.dense.naive.bert-39b618",
        "hpo.dense.oracle.bert-3c50d9",
        "hpo.dense.cet-paper-tau1.bert-66c591",
        "hpo.dense.cet-released-tau10.bert-fda425",
        "hpo.dense.cet-paper-tau0.5.bert-68bc5e",
        "hpo.dense.cet-paper-tau2.bert-feb0c3",
        "hpo.dense.rocketqa-pair-removed0.1.bert-4bbf59",
        "hpo.dense.rocketqa-pair-removed0.5.bert-8effc3",
        "hpo.dense.rocketqa-pair-removed0.9.bert-b835c5",
    ]


@pytest.mark.parametrize(
    "same",
    [
        {"method": {"name": "cet", "temperature": 1}},
        {"method": {"name": "cet", "temperature": 1.0}},
        {"method": {"name": "cet", "temperature": None}},
        {"method": {"temperature": 1.0, "form": "paper", "name": "cet"}},
        {"method": {"name": "cet", "depth": 100, "weights_from": "eval"}},
        {"training": {"pairs": 32}},
        {"training": {"clip": 1}},
        {"training": {"steps": 400}},
        {"rankers": {"another": {"kind": "bert", "layers": 3}}},
        {"pools": {"annotators": {"depth": 10, "retrievers": ["outside"]}}},
        {"seeds": [7]},
        {"study": "another"},
        {"probe": {"steps": []}},
        {"collections": {"ontology": {"kind": "hpo", "kinds": ["name", "layperson"]}}},
    ],
)
def test_equal_parameters_are_one_name_however_they_are_spelled(same):
    method = same.pop("method", "cet")

    assert name(method, **same) == name("cet")


def test_what_a_study_calls_a_retriever_does_not_matter():
    retrievers = {
        "lucene": {"b": 0.4, "kind": "bm25"},
        "mini": {"kind": "dense"},
        "annotators": {"kind": "bm25", "documents": "pool_documents"},
    }
    pools = {"outside": {"retrievers": ["annotators"]}}
    entries = [{"retriever": "mini", "method": "naive"}]

    assert names(entries, retrievers=retrievers, pools=pools) == [name("naive")]


@pytest.mark.parametrize(
    "other",
    [
        {"method": {"name": "cet", "temperature": 2.0}},
        {"method": {"name": "cet", "form": "released"}},
        {"method": {"name": "cet", "depth": 50}},
        {"method": "naive"},
        {"training": {"learning_rate": 2e-4}},
        {"rankers": {"bert": {"kind": "bert", "dropout": 0.0}}},
        {"pools": {"outside": {"labels_per_query": 1}}},
        {"pools": {"outside": {"retrievers": ["bm25"]}}},
        {"collections": {"hpo": {"kind": "hpo", "seed": 2}}},
        {"precision": "float32"},
        {"threads": 4},
        {"device": "cuda"},
    ],
)
def test_a_changed_parameter_changes_the_name(other):
    method = other.pop("method", "cet")

    assert name(method, **other) != name("cet")


def test_a_pools_retriever_is_part_of_what_makes_an_experiment():
    retrievers = copy.deepcopy(STUDY["retrievers"])
    retrievers["outside"]["k1"] = 1.2

    assert name("naive", retrievers=retrievers) != name("naive")


def test_folders_of_standard_and_other_parameters():
    assert folder(HpoCollection()) == "hpo"
    assert folder(Bm25Retriever()) == "bm25"
    assert folder(DenseRetriever()) == "dense"
    assert folder(Bm25Retriever(documents="pool_documents")) == "outside"
    assert re.fullmatch(r"bm25-[0-9a-f]{6}", folder(Bm25Retriever(k1=1.2)))
    assert folder(Bm25Retriever(k1=1)) == folder(Bm25Retriever(k1=1.0))


def test_folders_of_pools():
    pools = {
        "outside": {"retrievers": ["outside"]},
        "bm25": {"retrievers": ["bm25"]},
        "both": {"retrievers": ["dense", "bm25"]},
        "turned": {"retrievers": ["bm25", "dense"]},
        "one-label": {"retrievers": ["outside"], "labels_per_query": 1},
        "deep": {"retrievers": ["outside"], "depth": 20},
    }
    found = study([{"retriever": "dense", "method": "naive", "pool": "both"}], pools=pools)

    keys = {pool: pool_key(found, pool) for pool in pools}

    assert keys["outside"] == "outside"
    assert keys["bm25"] == "bm25"
    assert keys["both"] == keys["turned"] == "bm25+dense"
    assert re.fullmatch(r"outside-[0-9a-f]{6}", keys["one-label"])
    assert keys["one-label"] != keys["deep"]


def test_candidates_are_shared_by_what_differs_only_in_weight_and_training():
    found = study(
        [
            {"retriever": "dense", "method": ["naive", "cet"]},
            {"retriever": "dense", "method": "naive", "training": {"steps": 7}},
            {"retriever": "dense", "method": ["oracle", {"name": "naive", "depth": 50}]},
        ]
    )

    naive, cet, short, oracle, shallow = (candidates_key(found, e) for e in expand(found))

    assert naive == cet == short
    assert len({naive, oracle, shallow}) == 3
    assert re.fullmatch(r"hpo\.dense\.oracle-[0-9a-f]{6}", oracle)


def test_training_parameters_are_what_the_stage_takes():
    (experiment,) = expand(study([{"retriever": "dense", "method": "cet"}]))

    found = training_parameters(experiment, 3)

    assert experiment.coupled
    assert found["seed"] == 3
    assert found["limits"] == {"query": 16, "document": 64, "sequence": None}
    assert found["weight"] == {
        "name": "coupled",
        "form": "paper",
        "temperature": 1.0,
        "weights_from": "eval",
    }
    assert sorted(found) == [
        "device",
        "limits",
        "loss",
        "precision",
        "ranker",
        "seed",
        "threads",
        "training",
        "weight",
    ]


def test_all_that_cannot_be_expanded_is_told_at_once():
    entries = [
        {"retriever": "bm52", "method": "naive"},
        {"retriever": "dense", "method": "niave"},
    ]

    with pytest.raises(ConfigError) as error:
        expand(study(entries))

    assert len(str(error.value).split("\n")) == 2


def test_the_default_study_is_small():
    experiments = expand(load(ROOT / CONFIG))
    naive_sized = sum(2 if experiment.coupled else 1 for experiment in experiments)

    assert naive_sized == 14
    told = {(e.retriever, e.label) for e in experiments}
    assert {("bm25", "naive"), ("dense", "naive"), ("dense", "oracle")} <= told
    assert {("dense", "cet-paper-tau1"), ("dense", "cet-released-tau10")} <= told
    assert len({e.parameters["weight"]["temperature"] for e in experiments if e.coupled}) == 4
    removed = [e.parameters["negatives"].get("share_removed") for e in experiments]
    assert [share for share in removed if share] == [0.1, 0.5, 0.9]
    assert "zhan" in {row.method for row in rows(load(ROOT / CONFIG))}
    ranker = experiments[0].parameters["ranker"]
    assert ranker["layers"] == 3
    assert load(ROOT / CONFIG).pools["outside"].retrievers == ["outside"]


def test_the_smoke_study_is_tiny_and_goes_the_whole_way():
    smoke = load(ROOT / "config/smoke.yaml")
    experiments = expand(smoke)

    assert smoke.study == "smoke"
    assert {e.label for e in experiments} == {
        "naive",
        "oracle",
        "cet-paper-tau1",
        "cet-released-tau10",
        "cet-paper-tau1-clip10-running0.99",
        "cet_listwise-paper-tau1-n2",
        "dml-mu0-sigma0.5",
        "rocketqa-pair-removed0.5",
        "rance-one_minus_p",
        "sieve-30",
    }
    assert {e.retriever for e in experiments if e.method == "naive"} == {"bm25", "dense"}
    assert all(e.parameters["training"]["steps"] <= 6 for e in experiments)
    assert smoke.collections["hpo"].root == "HP:0000478"
    assert smoke.probe.steps == [3, 6]
    default = {experiment.name for experiment in expand(load(ROOT / CONFIG))}
    assert not default & {experiment.name for experiment in experiments}


def test_processes_are_a_parameter_where_there_are_several():
    entry = [{"retriever": "dense", "method": "naive"}]
    alone, two = (expand(study(entry, processes=number))[0] for number in (1, 2))
    assert "processes" not in training_parameters(alone, 1)
    assert training_parameters(two, 1)["processes"] == 2
    assert alone.name == expand(study(entry))[0].name != two.name
