"""Methods of a study file: labels, rankers that they share, teachers, halves, mistakes."""

import copy

import pytest

from poolbias import negatives
from poolbias.config.default import STUDY
from poolbias.config.entries import METHOD, METHODS
from poolbias.config.experiments import candidates_key, expand, rows
from poolbias.config.load import load
from poolbias.config.study import Study
from poolbias.config.yaml import flow
from poolbias.errors import ConfigError


def study(*methods, retriever="dense", **changes):
    entries = [{"retriever": retriever, "method": list(methods)}]
    return Study.model_validate(copy.deepcopy(STUDY) | changes | {"experiments": entries})


def label(**options):
    return METHOD.validate_python(options).label


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"name": "naive", "depth": 7}, "naive"),
        ({"name": "zhan"}, "zhan"),
        ({"name": "zhan", "trained_on": "sparse"}, "zhan-sparse"),
        ({"name": "random"}, "random"),
        ({"name": "random", "size": 20, "seed": 2}, "random-size20-seed2"),
        ({"name": "rocketqa"}, "rocketqa-pair-eta0.1"),
        ({"name": "rocketqa", "share_removed": 0.3}, "rocketqa-pair-removed0.3"),
        ({"name": "rocketqa", "scale": "logit", "eta": -2.5}, "rocketqa-logit-eta-2.5"),
        (
            {"name": "rocketqa", "teacher_seed": 4, "scored": 20, "positive": "lowest"},
            "rocketqa-pair-eta0.1-lowest-taught4-scored20",
        ),
        ({"name": "rance"}, "rance-one_minus_p"),
        ({"name": "rance", "rule": "released", "queries": "halves"}, "rance-released-halves"),
        ({"name": "sieve"}, "sieve-30"),
        ({"name": "sieve", "scores": "teacher", "sample": 9}, "sieve-9-teacher"),
        ({"name": "sieve", "scored": 9, "teacher_seed": 3}, "sieve-30"),  # without a teacher
        ({"name": "percpos"}, "percpos-0.95"),
        ({"name": "margin", "margin": 1, "scores": "teacher"}, "margin-1-teacher"),
        ({"name": "simans"}, "simans-a1-b0"),
        ({"name": "oracle_matched"}, "oracle_matched"),
        ({"name": "ideal_propensity"}, "ideal_propensity"),
    ],
)
def test_labels_tell_the_options(options, expected):
    assert label(**options) == expected


@pytest.mark.parametrize("name", METHODS)
def test_every_method_resolves_to_negatives_that_there_are(name):
    method = METHOD.validate_python({"name": name})
    chosen = method.trained.resolved()["negatives"]
    assert callable(negatives.get(chosen["name"]))
    assert method.method == name
    assert label(name=name).split("-")[0] == name


def test_zhan_shares_the_ranker_of_naive_and_ranks_another_run():
    both = rows(study("naive", retriever="bm25")) + rows(study("zhan"))
    naive, zhan = both
    assert naive.experiment == zhan.experiment
    assert (zhan.retriever, zhan.method, zhan.label) == ("dense", "zhan", "zhan")
    assert (zhan.experiment.retriever, zhan.experiment.method) == ("bm25", "naive")
    assert rows(study({"name": "zhan", "depth": 50}))[0].experiment != naive.experiment


def test_two_rows_of_one_ranker_are_one_training():
    entries = [
        {"retriever": "bm25", "method": "naive"},
        {"retriever": "dense", "method": ["naive", "zhan"]},
    ]
    found = Study.model_validate(copy.deepcopy(STUDY) | {"experiments": entries})
    assert len(rows(found)) == 3
    assert [e.label for e in expand(found)] == ["naive", "naive"]


def test_random_negatives_are_one_ranker_for_every_run():
    found = rows(study("random", retriever=["bm25", "dense"]))
    assert [row.retriever for row in found] == ["bm25", "dense"]
    assert found[0].experiment == found[1].experiment
    assert found[0].experiment.retriever is None
    assert found[0].experiment.name.startswith("hpo.collection.random.bert-")


def test_a_teacher_is_the_naive_ranker_of_the_same_making():
    (naive,) = expand(study("naive"))
    taught, teacher = expand(study("rocketqa"))
    assert teacher == naive
    assert taught.teacher == naive
    assert taught.parameters["teacher"] == {"experiment": naive.name, "seed": 1, "scored": None}
    assert expand(study("naive", "rocketqa"))[0] == naive
    assert len(expand(study("naive", "rocketqa"))) == 2
    shallow = {"name": "rocketqa", "depth": 50}
    assert expand(study(shallow))[1] == expand(study({"name": "naive", "depth": 50}))[0]
    assert [e.teacher for e in expand(study("sieve", "percpos", "margin", "simans"))] == [None] * 4


@pytest.mark.parametrize(
    "options", [{"teacher_seed": 2}, {"scored": 10}, {"eta": 0.2}, {"scale": "probability"}]
)
def test_what_changes_the_choice_changes_the_candidates(options):
    plain, other = (study({"name": "rocketqa", **changed}) for changed in ({}, options))
    keys = [candidates_key(found, expand(found)[0]) for found in (plain, other)]
    assert len(set(keys)) == 2


def test_a_teachers_training_is_part_of_the_candidates_it_chose():
    def key(method, **changes):
        found = study(method, **changes)
        return candidates_key(found, expand(found)[0])

    longer = {"training": {"steps": 401}}
    assert key("rocketqa") != key("rocketqa", **longer)
    assert key("naive") == key("naive", **longer)
    assert key("sieve") == key("sieve", **longer)
    # options of a teacher that is not asked
    assert key("sieve") == key({"name": "sieve", "scored": 9, "teacher_seed": 3})


def test_halves_train_two_rankers_and_make_one_row():
    (row,) = rows(study({"name": "rance", "queries": "halves"}))
    one, two = row.experiment.halves
    assert expand(study({"name": "rance", "queries": "halves"})) == [one, two]
    assert [e.parameters["negatives"]["half"] for e in (one, two)] == [1, 2]
    assert {e.parameters["negatives"]["queries"] for e in (one, two)} == {"test"}
    assert [e.label for e in (one, two)] == [f"{row.label}-half1", f"{row.label}-half2"]
    assert len({row.experiment.name, one.name, two.name}) == 3


def mistake(tmp_path, *methods, retriever="dense", **changes):
    path = tmp_path / "study.yaml"
    text = copy.deepcopy(STUDY) | changes
    text["experiments"] = [{"retriever": retriever, "method": list(methods)}]
    path.write_text("\n".join(f"{key}: {flow(value)}" for key, value in text.items()))
    with pytest.raises(ConfigError) as error:
        load(path)
    (line,) = str(error.value).split("\n")
    return line


@pytest.mark.parametrize(
    ("method", "told"),
    [
        ({"name": "zhan", "trained_on": "bm52"}, "trained_on: found 'bm52', need a retriever"),
        ({"name": "zhan", "trained_on": "dense"}, "'dense', whose run this item re-ranks"),
        ({"name": "zhan", "trained_on": "outside"}, "'outside', which searches pool_documents"),
        (
            {"name": "zhan", "depth": 500},
            "found 500, need at most 200, the depth of retriever 'bm25'",
        ),
        (
            {"name": "rocketqa", "eta": 0.1, "share_removed": 0.1},
            "found both eta and share_removed",
        ),
        ({"name": "rocketqa", "scale": "logit"}, "found no eta, which scale logit needs"),
        (
            {"name": "rocketqa", "eta": 1.5},
            "found eta 1.5, need above 0 and at most 1 on scale pair",
        ),
        ({"name": "rocketqa", "share_removed": 1}, "share_removed: found 1, need a number above 0"),
        ({"name": "rance", "rule": "released", "depth": 12}, "found depth 12, need at least 13"),
        (
            {"name": "percpos", "share": 1.1},
            "share: found 1.1, need a number above 0 and at most 1",
        ),
        ({"name": "simans", "a": -1}, "a: found -1, need a number of at least 0"),
        ({"name": "random", "depth": 5}, "depth: this key is not known here"),
    ],
)
def test_mistakes_are_told_in_one_sentence(tmp_path, method, told):
    assert told in mistake(tmp_path, method)


def test_what_the_study_lacks_for_a_method_is_told(tmp_path):
    pools = {"outside": {"retrievers": ["outside"], "labels_per_query": 1}}
    told = mistake(tmp_path, "ideal_propensity", pools=pools)
    assert "found 'ideal_propensity' with pool 'outside', whose labels_per_query is 1" in told
    told = mistake(tmp_path, "rance", evaluation={"split": "dev"})
    assert "evaluation.split is dev; write halves" in told
    assert rows(study({"name": "rance", "queries": "halves"}, evaluation={"split": "dev"}))
