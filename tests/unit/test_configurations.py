"""The choice of one setting per method: who may be chosen, and by what."""

import copy

import pandas as pd
import pytest
import yaml

from poolbias.config.default import STUDY
from poolbias.config.load import load
from poolbias.config.tuning import family
from poolbias.errors import ConfigError, DataError
from poolbias.evaluation.configurations import COLUMNS, choose

RATES = [5e-5, 1e-4]
EXPERIMENTS = [
    {"retriever": "dense", "method": "naive", "training": {"learning_rate": RATES}},
    {"retriever": "dense", "method": {"name": "cet", "form": "paper", "temperature": [1, 2]}},
    {"retriever": "dense", "method": {"name": "cet", "form": "released", "temperature": [2, 10]}},
]


def read(tmp_path, **changes):
    study = copy.deepcopy(STUDY) | {
        "evaluation": {"split": "dev"},
        "tuning": {"configurations": 2},
        "experiments": EXPERIMENTS,
    }
    path = tmp_path / "study.yaml"
    path.write_text(yaml.safe_dump(study | changes))
    return load(path)


def test_a_fair_study_is_read(tmp_path):
    found = read(tmp_path)
    assert (found.tuning.configurations, found.tuning.measure) == (2, "RR@10")
    assert read(tmp_path, tuning=None).tuning is None


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"evaluation": {"split": "test"}}, "split: found 'test', need 'dev', since `tuning`"),
        ({"tuning": {"measure": "RR@7"}}, "tuning.measure: found 'RR@7', need one of evaluation"),
        (
            {"tuning": {"configurations": 3}},
            "configurations: found 2 settings of cet-released on dense, need 3 of each method",
        ),
        (
            {"experiments": [*EXPERIMENTS, {"retriever": "bm25", "method": "naive"}]},
            "configurations: found 1 settings of naive on bm25, need 2 of each method",
        ),
    ],
)
def test_a_choice_on_test_or_an_unfair_one_is_refused(tmp_path, changes, told):
    with pytest.raises(ConfigError) as error:
        read(tmp_path, **changes)
    assert told in str(error.value)


def test_methods_may_differ_where_the_study_says_so(tmp_path):
    entries = [*EXPERIMENTS, {"retriever": "bm25", "method": "naive"}]
    read(tmp_path, tuning={}, experiments=entries)


def test_forms_are_families_of_their_own():
    assert family("cet", {"name": "coupled", "form": "paper"}) == "cet-paper"
    assert family("naive", {"name": "one"}) == "naive"


# Per experiment the values of queries a and b by labels, of one or two seeds.
VALUES = {
    "n1": ("naive", {1: (0.5, 0.2), 2: (0.7, 0.4)}),  # mean .45
    "n2": ("naive", {1: (0.9, 0.9), 2: (0.0, 0.0)}),  # .45 too: the first stays
    "n3": ("naive", {1: (0.4, 0.4), 2: (0.4, 0.4)}),
    "c1": ("cet", {1: (0.1, 0.1)}),
    "c2": ("cet", {1: (0.1, 0.2)}),
}
FAMILIES = pd.DataFrame(
    [
        {"experiment": n, "retriever": "dense", "family": f, "changed": f"rate {n}"}
        for n, f in [
            ("n1", "naive"),
            ("n2", "naive"),
            ("n3", "naive"),
            ("c1", "cet"),
            ("c2", "cet"),
        ]
    ]
)


def systems():
    rows = []
    for experiment, (method, seeds) in VALUES.items():
        for seed, (a, b) in seeds.items():
            for query, value in (("a", a), ("b", b)):
                told = {"collection": "hpo", "pool": "outside", "retriever": "dense"}
                told |= {"experiment": experiment, "method": f"{method}-x", "name": method}
                told |= {"ranker": "bert", "seed": seed, "query_id": query}
                rows.append(told | {"judgements": "labels", "measure": "RR@10", "value": value})
                rows.append(told | {"judgements": "truth", "measure": "RR@10", "value": 1 - value})
                rows.append(told | {"judgements": "labels", "measure": "R@10", "value": 1 - value})
    return pd.DataFrame(rows)


def test_the_highest_mean_by_labels_is_chosen_in_each_family():
    found = choose(systems(), FAMILIES, "RR@10")
    assert list(found.columns) == COLUMNS
    assert found["experiment"].tolist() == ["n1", "n2", "n3", "c1", "c2"]
    assert found["mean"].tolist() == pytest.approx([0.45, 0.45, 0.4, 0.1, 0.15])
    assert found["chosen"].tolist() == ["yes", "no", "no", "no", "yes"]
    assert found["configurations"].tolist() == [3, 3, 3, 2, 2]
    assert found["seeds"].tolist() == [2, 2, 2, 1, 1]
    assert set(found["queries"]) == {2}
    assert found["changed"].tolist()[0] == "rate n1"


def test_another_measure_may_choose_others():
    found = choose(systems(), FAMILIES, "R@10").set_index("experiment")["chosen"]
    assert found[found == "yes"].index.tolist() == ["n3", "c1"]


def test_a_setting_that_was_not_measured_is_named():
    with pytest.raises(DataError, match=r"n1: was not measured by labels in RR@100"):
        choose(systems(), FAMILIES, "RR@100")
    by_truth = systems()[systems()["judgements"] == "truth"]
    with pytest.raises(DataError, match=r"n1: was not measured by labels in RR@10"):
        choose(by_truth, FAMILIES, "RR@10")
