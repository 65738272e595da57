"""The study files that ship, but for the default and the smoke one: complete, fair, and as told."""

import re
from collections import Counter

import pytest

from poolbias.config.experiments import expand, folder, read_entries, rows
from poolbias.config.generate import CONFIG, ROOT
from poolbias.config.load import load
from poolbias.config.tuning import families
from poolbias.tables.rows import METHODS, RANKERS


def study(name):
    return load(ROOT / "config" / f"{name}.yaml")


def labels(chosen):
    return [row.label for row in chosen]


@pytest.fixture(scope="module")
def seeds():
    return study("hpo-seeds")


@pytest.fixture(scope="module")
def main(seeds):
    """The rows about the default collection and pool, with the study's own training."""
    common = seeds.training.model_dump()
    return [
        row
        for row in rows(seeds)
        if (row.experiment.collection, row.experiment.pool) == ("hpo", "outside")
        and row.experiment.parameters["training"] | {"pairs": 32} == common
    ]


def test_every_method_is_run_with_five_seeds(seeds, main):
    assert seeds.seeds == [1, 2, 3, 4, 5]
    assert set(METHODS) <= {row.method for row in main}
    on_bm25 = [row.label for row in main if row.retriever == "bm25"]
    assert on_bm25 == ["naive", "oracle", "cet-paper-tau1", "cet-released-tau10"]


def test_what_the_default_study_makes_is_shared(seeds):
    default = {experiment.name for experiment in expand(load(ROOT / CONFIG))}
    own = {experiment.name for experiment in expand(seeds)}
    assert default - own == set()
    assert len(own) > 5 * len(default)


def test_the_headline_over_seeds_is_part_of_the_default_study_and_of_the_large_one(seeds):
    core = study("hpo-core")
    own = {experiment.name for experiment in expand(core)}
    assert core.seeds == [1, 2, 3]
    assert len(own) == 5
    assert own < {experiment.name for experiment in expand(load(ROOT / CONFIG))}
    assert own < {experiment.name for experiment in expand(seeds)}


def test_the_sweeps_are_full(main):
    found = Counter(labels(main))
    for share in range(1, 10):
        assert found[f"rocketqa-pair-removed0.{share}"] == 1
    paper = {label for label in found if re.fullmatch(r"cet-paper-tau[0-9.]+", label)}
    released = {label for label in found if re.fullmatch(r"cet-released-tau[0-9.]+", label)}
    assert {f"cet-paper-tau{tau}" for tau in ("0.25", "0.5", "1", "2", "4", "8")} == paper
    assert {f"cet-released-tau{tau}" for tau in ("1", "2", "5", "10", "20")} == released
    ours = {f"cet-paper-tau1-{option}" for option in ("clip1", "clip10", "batch", "running0.99")}
    assert ours <= set(found)


def test_stability_is_over_learning_rate_and_temperature_together(seeds):
    pairs = {
        (row.label, row.experiment.parameters["training"]["learning_rate"])
        for row in rows(seeds)
        if (row.experiment.collection, row.experiment.pool) == ("hpo", "outside")
        and row.retriever == "dense"
    }
    for rate in (5e-5, 1e-4, 2e-4):
        for label in ("naive", "cet-paper-tau0.5", "cet-paper-tau1", "cet-paper-tau2"):
            assert (label, rate) in pairs
        assert ("cet-released-tau10", rate) in pairs


def test_the_pool_is_swapped_while_all_else_stays(seeds):
    told = {}
    for row in rows(seeds):
        experiment = row.experiment
        about = experiment.parameters
        if about["training"] == seeds.training.model_dump() and experiment.collection == "hpo":
            told.setdefault(experiment.pool, set()).add((row.retriever, row.label))
    assert set(told) == {"outside", "bm25", "dense", "bm25+dense"}
    both = {
        (retriever, method) for retriever in ("bm25", "dense") for method in ("naive", "oracle")
    }
    cet = {("dense", "cet-paper-tau1"), ("dense", "cet-released-tau10")}
    assert both | cet <= told["outside"]
    for pool in ("bm25", "dense", "bm25+dense"):
        assert told[pool] == both | cet


def test_the_stricter_split_is_run_beside_the_other(seeds):
    assert seeds.collections["branch"].model_dump() == (
        seeds.collections["hpo"].model_dump() | {"split": "branch"}
    )
    found = [(r.retriever, r.label) for r in rows(seeds) if r.experiment.collection == "branch"]
    assert found == [
        ("bm25", "naive"),
        ("dense", "naive"),
        *[("dense", label) for label in ("oracle", "cet-paper-tau1", "cet-released-tau10")],
    ]


def test_every_method_has_as_many_settings_to_choose_from():
    tuning = study("hpo-tuning")
    assert tuning.evaluation.split == "dev"
    found = families(read_entries(tuning)[0])
    assert {len(members) for members in found.values()} == {tuning.tuning.configurations} == {3}
    assert {place[2] for place in found} == {"dense"}
    assert set(METHODS) - {"cet"} <= {place[-1].partition("-")[0] for place in found} - {"cet"}
    assert {"cet-paper", "cet-released"} <= {place[-1] for place in found}


def test_what_is_chosen_is_what_the_large_study_can_run(seeds):
    """Settings are one experiment in both studies, but for rance, whose P(r) rests on dev there."""
    large = {row.experiment.name for row in rows(seeds)}
    small = {row.method for row in rows(study("hpo-tuning")) if row.experiment.name in large}
    assert set(METHODS) - small == {"rance"}
    assert seeds.tables.chosen_by == "hpo-tuning"


def test_wordnet_is_the_default_study_on_another_collection():
    found, default = study("wordnet"), load(ROOT / CONFIG)
    assert sorted((row.retriever, row.label) for row in rows(found)) == sorted(
        (row.retriever, row.label) for row in rows(default)
    )
    assert found.training == default.training
    assert found.rankers == default.rankers
    (collection,) = found.collections.values()
    assert (collection.minimum_relevant, collection.maximum_relevant) == (8, 200)
    assert folder(collection) == "wordnet"


def test_every_ranker_of_table_4_but_prop_is_run_without_and_with_cet():
    found = study("hpo-long")
    told = {(row.experiment.ranker, row.label) for row in rows(found) if row.retriever == "dense"}
    methods = ("naive", "cet-paper-tau1", "cet-released-tau10")
    assert told == {(name, label) for name in set(RANKERS) - {"prop"} for label in methods}
    (collection,) = found.collections.values()
    assert collection.documents == "definition_and_branch"


def test_where_a_database_lies_changes_no_name():
    found = study("wordnet")
    named = found.model_copy(
        update={
            "collections": {
                "mine": found.collections["wordnet"].model_copy(update={"folder": "/some/where"})
            },
            "experiments": [{"retriever": "dense", "method": "naive"}],
        }
    )
    assert folder(named.collections["mine"]) == "wordnet"
    assert [e.name for e in expand(named)] == [
        e.name for e in expand(found) if (e.retriever, e.label) == ("dense", "naive")
    ]
    other = found.collections["wordnet"].model_copy(update={"instances": False})
    assert re.fullmatch(r"wordnet-[0-9a-f]{6}", folder(other))


def test_the_page_counts_what_the_files_hold():
    text = (ROOT / "docs" / "studies.md").read_text()
    for name in (
        "config", "hpo-tuning", "hpo-seeds", "hpo-retrievers", "wordnet", "hpo-long", "paper"
    ):  # fmt: skip
        cells = re.search(rf"^\|.*\[{name}\.yaml\].*\|$", text, re.MULTILINE)[0].split("|")
        found = study(name)
        rankers = expand(found)
        counted = [len(rows(found)), len(rankers), sum(1 + ranker.coupled for ranker in rankers)]
        assert [cell.strip() for cell in cells[4:8]] == [
            *map(str, counted),
            str(len(found.seeds)),
        ]
