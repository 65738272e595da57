"""Methods by loss or weight in a study file: labels, what stages get, and names that stay."""

import copy
from typing import get_args

import pytest

from poolbias import losses, weights
from poolbias.config.default import STUDY
from poolbias.config.entries import METHOD
from poolbias.config.experiments import candidates_key, expand, training_parameters
from poolbias.config.load import load
from poolbias.config.study import Study
from poolbias.config.weighted import Coupled, Dml
from poolbias.errors import ConfigError
from poolbias.stages import given_training
from poolbias.training.adjustment import NORMALISE, Adjustment
from poolbias.weights.coupling import FORMS
from poolbias.weights.prediction import PREDICTIONS


def study(*methods):
    return Study.model_validate(
        copy.deepcopy(STUDY) | {"experiments": [{"retriever": "dense", "method": list(methods)}]}
    )


def method(name, **options):
    return METHOD.validate_python({"name": name, **options})


@pytest.mark.parametrize(
    ("options", "label"),
    [
        ({"name": "cet"}, "cet-paper-tau1"),
        ({"name": "cet", "negatives_per_positive": 4}, "cet-paper-tau1-n4"),
        ({"name": "cet", "clip": 5}, "cet-paper-tau1-clip5"),
        ({"name": "cet", "normalise": "batch", "form": "released"}, "cet-released-tau10-batch"),
        (
            {"name": "cet", "normalise": "running_mean", "decay": 0.9, "clip": 2.5},
            "cet-paper-tau1-clip2.5-running0.9",
        ),
        ({"name": "cet_listwise"}, "cet_listwise-paper-tau1-n7"),
        ({"name": "cet_listwise", "negatives_per_positive": 1}, "cet_listwise-paper-tau1"),
        ({"name": "lce"}, "lce-n7"),
        ({"name": "naive", "negatives_per_positive": 3}, "naive-n3"),
        ({"name": "dml"}, "dml-mu0-sigma0.5"),
        (
            {"name": "dml", "mu": 0.5, "sigma": 1, "pointwise": 0, "prediction": "document"},
            "dml-mu0.5-sigma1-document-a1-b0",
        ),
    ],
)
def test_labels_tell_the_options_that_are_on(options, label):
    assert METHOD.validate_python(options).label == label


def test_what_is_off_is_not_among_the_parameters():
    """So that the options do not rename what was trained before they came."""
    plain = method("cet").resolved()
    assert plain["weight"] == {
        "name": "coupled", "form": "paper", "temperature": 1.0, "weights_from": "eval",
    }  # fmt: skip
    assert set(plain) == {"negatives", "loss", "weight"}
    off = method("cet", clip=None, normalise="none", decay=0.5, negatives_per_positive=1)
    assert off.resolved() == plain


@pytest.mark.parametrize(
    ("options", "adjust"),
    [
        ({"clip": 5.0}, {"clip": 5.0}),
        ({"normalise": "batch", "decay": 0.5}, {"normalise": "batch"}),
        (
            {"clip": 1, "normalise": "running_mean"},
            {"clip": 1.0, "normalise": "running_mean", "decay": 0.99},
        ),
    ],
)
def test_options_that_are_on_reach_the_adjustment(options, adjust):
    found = method("cet", **options).resolved()["weight"]
    assert found["adjust"] == adjust
    Adjustment(**found["adjust"])
    (one, other) = expand(study({"name": "cet"}, {"name": "cet", **options}))
    assert one.name.rpartition("-")[2] != other.name.rpartition("-")[2]


def test_methods_resolve_to_choices_that_are_there():
    resolved = {
        name: method(name).resolved() for name in ("naive", "cet", "cet_listwise", "lce", "dml")
    }
    assert {name: found["loss"] for name, found in resolved.items()} == {
        "naive": "pairwise_cross_entropy",
        "cet": "pairwise_cross_entropy",
        "cet_listwise": "softmax_cross_entropy",
        "lce": "softmax_cross_entropy",
        "dml": "softmax_and_pointwise",
    }
    assert resolved["cet_listwise"]["weight"] == resolved["cet"]["weight"]
    assert resolved["lce"]["negatives_per_positive"] == 7
    assert resolved["dml"]["loss_options"] == {"softmax": 1.0, "pointwise": 1.0}
    assert resolved["dml"]["weight"] == {
        "name": "gaussian", "mu": 0.0, "sigma": 0.5, "prediction": "instance",
    }  # fmt: skip
    for found in resolved.values():
        assert callable(losses.get(found["loss"]))
        assert callable(weights.get(found["weight"]["name"]))
    assert method("cet_listwise").coupled
    assert not method("dml").coupled


@pytest.mark.parametrize(
    ("section", "field", "known"),
    [
        (Coupled, "form", FORMS),
        (Coupled, "normalise", NORMALISE),
        (Dml, "prediction", PREDICTIONS),
    ],
)
def test_choices_of_a_study_file_are_those_of_the_library(section, field, known):
    assert get_args(section.model_fields[field].annotation) == known


def test_the_stage_gets_number_and_options_and_candidates_are_shared():
    found = study("naive", "cet_listwise", "dml", "lce")
    naive, lists, dml, lce = expand(found)
    assert len({candidates_key(found, experiment) for experiment in (naive, lists, dml, lce)}) == 1
    assert training_parameters(lists, 1)["negatives_per_positive"] == 7
    assert training_parameters(dml, 1)["loss_options"] == {"softmax": 1.0, "pointwise": 1.0}
    assert not {"loss_options", "negatives_per_positive"} & set(training_parameters(naive, 1))
    codes = {str(given_training(experiment, 1)["code"]) for experiment in (naive, lists, dml, lce)}
    assert len(codes) == 4  # each has modules of its own


def test_the_grid_of_dml_is_six_experiments():
    grid = {"name": "dml", "mu": [0, 0.5], "sigma": [0.25, 0.5, 1]}
    assert len({experiment.name for experiment in expand(study(grid))}) == 6


def wrong(tmp_path, text):
    path = tmp_path / "study.yaml"
    path.write_text(
        "study: toy\n"
        "collections: {hpo: {kind: hpo}}\n"
        "retrievers: {dense: {kind: dense}}\n"
        "pools: {outside: {retrievers: [dense]}}\n"
        "rankers: {bert: {kind: bert}}\n"
        "training: {steps: 6}\n"
        "evaluation: {measures: [RR@10, R@100]}\n"
        "figures: {figure_1: {retrievers: [dense]}}\n"
        f"experiments: [{{retriever: dense, method: {text}}}]\n"
    )
    load(path)
    return True


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "{name: naive, depth: 3, negatives_per_positive: 4}",
            r"negatives_per_positive: found 4, need at most 3, the depth",
        ),
        ("{name: cet, negatives_per_positive: 0}", "need a whole number of at least 1"),
        ("{name: cet, clip: 0}", "clip: found 0, need a number above 0, or null"),
        ("{name: cet, decay: 1}", "decay: found 1, need a number of at least 0 and below 1"),
        ("{name: cet, normalise: mean}", "need 'none', 'batch' or 'running_mean'"),
        ("{name: dml, sigma: 0}", "sigma: found 0, need a number above 0"),
        ("{name: dml, mu: 1.5}", "mu: found 1.5, need a number from 0 to 1"),
        ("{name: lce, clip: 5}", "clip"),
    ],
)
def test_a_wrong_option_gives_its_sentence(tmp_path, text, message):
    with pytest.raises(ConfigError, match=message):
        wrong(tmp_path, text)


@pytest.mark.parametrize(
    "text",
    [
        "{name: naive, depth: 3, negatives_per_positive: 3}",
        "{name: cet, decay: 0, clip: 0.1}",
        "{name: dml, mu: 1}",
    ],
)
def test_values_at_the_bounds_are_taken(tmp_path, text):
    assert wrong(tmp_path, text)
