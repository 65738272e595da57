"""Rankers that methods share, teachers, halves, and what filters leave, on the smoke study."""

import copy
import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import yaml
from conftest import ROOT, SMOKE, Workflow
from pages import copy_repository

from poolbias.filtering.rank_relevance import half_of
from poolbias.formats import read_qrels, read_run

TARGET = "summarise_metrics"
KEPT = {"evaluation": ("depth", "measures"), "figures": ("figure_1",)}


def study_file(folder, *methods, first=(), **changes):
    """Write the smoke study with these methods on the dense run, and `first` on BM25's."""
    study = yaml.safe_load(SMOKE.read_text()) | copy.deepcopy(changes)
    for section, names in KEPT.items():  # the rest is about methods that are not here
        study[section] = {name: study[section][name] for name in names}
    on_bm25 = [{"retriever": "bm25", "method": list(first)}] if first else []
    study["experiments"] = [*on_bm25, {"retriever": "dense", "method": list(methods)}]
    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump(study))
    return path


def at(name, **options):
    return {"name": name, "depth": 50, **options}


def jobs(folder, *methods, target=TARGET, **options):
    """Return the jobs of a fresh folder."""
    path = study_file(folder, *methods, **options)
    return Workflow(folder).jobs(target, configfile=path)


def test_zhan_shares_the_ranker_of_naive_and_adds_a_ranking_only(tmp_path):
    alone = jobs(tmp_path, at("naive"), first=[at("naive")])
    both = jobs(tmp_path, at("naive"), at("zhan"), first=[at("naive")])
    more = {rule: count - alone.get(rule, 0) for rule, count in both.items()}
    assert {rule: count for rule, count in more.items() if count} == {"rerank": 1, "evaluate": 2}
    # where the study lacks naive on BM25, zhan has it trained
    without = jobs(tmp_path, at("zhan"))
    assert (without["train_ranker"], without["rerank"], without["build_candidates"]) == (1, 1, 1)


def test_one_teacher_is_trained_and_scores_once(tmp_path):
    found = jobs(tmp_path, at("rocketqa", eta=[0.2, 0.5]), at("margin", scores="teacher"))
    assert found["score_candidates"] == 1
    assert found["train_ranker"] == 4
    assert found["rerank"] == 3  # the teacher ranks nothing
    listed = jobs(tmp_path, at("naive"), at("rocketqa", eta=[0.2, 0.5]))
    assert (listed["score_candidates"], listed["train_ranker"]) == (1, 3)


def test_one_more_eta_is_one_candidates_table_and_one_training(smoke, tmp_path):
    study = yaml.safe_load(SMOKE.read_text())
    entry = {"retriever": "dense", "method": at("rocketqa", eta=0.3)}
    path = tmp_path / "study.yaml"
    path.write_text(yaml.safe_dump(study | {"experiments": [*study["experiments"], entry]}))
    assert smoke.jobs(TARGET, configfile=path) == {
        "build_candidates": 1, "train_ranker": 1, "rerank": 1, "evaluate": 2, TARGET: 1,
    }  # fmt: skip


def test_a_teachers_scores_are_those_of_re_ranking(smoke, tmp_path):
    scores = smoke.path("scores/*/seed-1/*.top-50")
    ranker = smoke.path("rankers/*dense.naive.*/seed-1/R/model.safetensors")
    assert scores.parent.parent.name == ranker.parents[2].name
    told = smoke.path("logs/rerank/*dense.naive.*/seed-1/*/top-10/test.json")
    (tmp_path / "parameters.json").write_text(
        json.dumps(json.loads(told.read_text()) | {"depth": 50})
    )
    collection = smoke.path("collections/*")
    run = smoke.path("runs/*/dense*/train.run.gz")
    options = {"parameters": tmp_path / "parameters.json", "ranker": ranker, "run": run}
    options |= {"tokens": smoke.path("tokens/*/*")}
    options |= {name: collection / f"{name}.tsv" for name in ("queries", "documents")}
    options |= {name: tmp_path / name for name in ("ranking", "manifest")}
    words = [word for name, path in options.items() for word in (f"--{name}", path)]
    script = ROOT / "workflow/scripts/rerank.py"
    subprocess.run([sys.executable, script, *words], check=True, capture_output=True)
    ids = {
        name: pd.read_csv(collection / file, sep="\t", dtype=str, quoting=3)[f"{name}_id"]
        for name, file in (("query", "queries.tsv"), ("document", "documents.tsv"))
    }
    array = {path.stem: np.load(path) for path in scores.glob("*.npy")}
    taught = pd.DataFrame({"taught": array["scores"]})
    for name, column in ids.items():
        taught[f"{name}_id"] = column.iloc[array[f"{name}_rows"]].to_numpy()
    both = read_run(tmp_path / "ranking").merge(taught, on=["query_id", "document_id"])
    assert len(both) > 1500
    np.testing.assert_allclose(both["taught"], both["score"], atol=1e-5)


def test_halves_train_two_rankers_and_join_their_rankings(tmp_path):
    found = jobs(tmp_path, at("rance", queries="halves"))
    assert found["estimate_rank_relevance"] == found["build_candidates"] == 2
    assert found["train_ranker"] == found["rerank"] == 2
    assert found["join_halves"] == 1
    assert found["evaluate"] == 4  # the run and the joined ranking, by truth and by labels


def test_a_joined_ranking_has_each_query_from_the_other_half(smoke, tmp_path):
    paths = [smoke.path(f"rankings/*dense.{name}.*/seed-1/*/top-10/test.run.gz")
             for name in ("naive", "oracle")]  # fmt: skip
    queries = smoke.path("collections/*/queries.tsv")
    (tmp_path / "parameters.json").write_text(json.dumps({"tag": "joined"}))
    options = {"parameters": tmp_path / "parameters.json", "queries": queries}
    options |= {name: tmp_path / name for name in ("ranking", "manifest")}
    words = [word for name, path in options.items() for word in (f"--{name}", path)]
    script = ROOT / "workflow/scripts/join_halves.py"
    command = [sys.executable, script, *words, "--rankings", *paths]
    subprocess.run(command, check=True, capture_output=True)
    groups = pd.read_csv(queries, sep="\t", dtype=str).set_index("query_id")["group"]
    joined = read_run(tmp_path / "ranking")
    halves = joined["query_id"].map(groups).map(half_of)
    for half, path in enumerate(paths, start=1):
        made = read_run(path)
        kept = made[made["query_id"].map(groups).map(half_of) != half]
        pd.testing.assert_frame_equal(
            joined[halves != half].reset_index(drop=True), kept.reset_index(drop=True)
        )


FILTERS = [
    at("naive"), at("zhan"), {"name": "random", "size": 40}, at("rocketqa", share_removed=0.5),
    at("rance", rule=["one_minus_p", "released"]), at("sieve"),
    at("sieve", scores="teacher", scored=10), at("percpos"), at("margin"), at("simans"),
    at("oracle"), at("oracle_matched"), at("ideal_propensity"),
]  # fmt: skip


@pytest.fixture(scope="module")
def filtered(smoke, tmp_path_factory):
    """A copy of the smoke study's results in which every method's candidates are made."""
    folder = tmp_path_factory.mktemp("filtered")
    made = Workflow(copy_repository(folder, smoke), root=folder)
    path = study_file(folder, *FILTERS, first=[at("naive")])
    made.run("table_filters", configfile=path)
    return made


def rows_of(folder):
    """Return the candidates of a table, one row each, with what the arrays say."""
    array = {path.stem: np.load(path) for path in folder.glob("*.npy")}
    owner = np.repeat(array["query_rows"], np.diff(array["offsets"]))
    columns = {"query": owner, "document": array["documents"], "rank": array["ranks"]}
    return pd.DataFrame(columns | {"probability": array["probability"]})


def table_of(workflow, name):
    return rows_of(workflow.path(f"candidates/*.{name}-??????"))


def test_probabilities_of_every_table_sum_to_one(filtered):
    folders = [path for path in (filtered.folder / "results/candidates").iterdir() if path.is_dir()]
    assert len(folders) >= 12
    for folder in folders:
        rows = rows_of(folder)
        sums = rows.groupby("query")["probability"].sum()
        np.testing.assert_allclose(sums, 1, rtol=1e-5)
        statistics = json.loads(folder.with_name(folder.name + ".json").read_text())
        assert len(rows) == statistics["candidates_kept"]
        assert len(sums) == statistics["queries"]
        counts = pd.read_csv(
            filtered.path(f"metrics/candidates/{folder.name}.tsv"),
            sep="\t",
            dtype={"query_id": str},
        )
        assert counts["kept"].sum() == len(rows)
        assert (counts["kept"] > 0).sum() == len(sums)


def test_percpos_on_the_dense_run_by_hand(filtered):
    collection = filtered.path("collections/*")
    queries = pd.read_csv(collection / "queries.tsv", sep="\t", dtype=str)["query_id"]
    documents = pd.read_csv(collection / "documents.tsv", sep="\t", dtype=str, quoting=3)
    ids = documents["document_id"]
    labels = read_qrels(next(collection.glob("pools/*/labels.qrels")))
    run = read_run(filtered.path("runs/*/dense*/train.run.gz"))
    kept = table_of(filtered, "percpos")
    pairs = set(zip(queries.iloc[kept["query"]], ids.iloc[kept["document"]], strict=True))
    expected = set()
    for query, part in run.groupby("query_id"):
        labelled = set(labels.loc[labels["query_id"] == query, "document_id"])
        if labelled:
            scores = dict(zip(part["document_id"], part["score"], strict=True))
            positive = np.mean([scores.get(d, min(scores.values())) for d in sorted(labelled)])
            expected |= {
                (query, d) for d, s in scores.items() if s < 0.95 * positive and d not in labelled
            }
    assert pairs == expected
    assert len(expected) > 100


def test_filters_by_the_truth_and_by_the_pool(filtered):
    uniform, oracle, matched, ideal = (
        table_of(filtered, f"dense.{name}")
        for name in ("uniform", "oracle", "oracle_matched", "ideal_propensity")
    )
    key = ["query", "document"]
    per_query = {
        name: table.groupby("query").size().reindex(uniform["query"].unique(), fill_value=0)
        for name, table in (("all", uniform), ("true", oracle), ("matched", matched))
    }
    false = per_query["all"] - per_query["true"]
    gone = per_query["all"] - per_query["matched"]
    # as many as there are false ones, or all true ones where they are fewer
    assert (gone == np.minimum(false, per_query["true"])).all()
    assert (gone == false).sum() > 10
    kept = matched.merge(oracle[key])
    assert len(kept) == per_query["true"].sum() - gone.sum()  # only true ones are gone
    pool = pd.read_csv(filtered.path("collections/*/pools/*/pool.tsv"), sep="\t", dtype=str)
    assert 0 < len(ideal) < len(pool)
    assert len(ideal.merge(oracle[key])) == len(ideal)  # every one is truly irrelevant


def test_random_negatives_come_from_the_whole_collection(filtered):
    random = table_of(filtered, "collection.random")
    assert random.groupby("query")["document"].nunique().between(30, 40).all()
    dense = table_of(filtered, "dense.uniform")
    assert len(random.merge(dense, on=["query", "document"])) < len(random) / 2


def test_the_table_of_filters_is_what_the_statistics_say(filtered):
    table = pd.read_csv(filtered.path("smoke/tables/table_filters.tsv"), sep="\t")
    made = table[table["status"] == "made"].set_index("method")
    assert made.loc["sieve-30-teacher-scored10", "candidates"] < made.loc["sieve-30", "candidates"]
    row = made.loc["rocketqa-pair-removed0.5"]
    assert row["removed"] / row["candidates"] == pytest.approx(0.5, abs=0.01)
    statistics = json.loads(filtered.path("candidates/*.rocketqa-*.json").read_text())
    assert 0 < statistics["eta"] < 1
    assert statistics["removed_precision"] == pytest.approx(row["removed_precision"])
    assert statistics["false_negative_draws"] == pytest.approx(row["false_negative_draws"])
    assert made.loc["oracle", "removed_recall"] == made.loc["oracle", "removed_precision"] == 1
    assert made.loc["oracle_matched", "removed_recall"] == 0
    assert made.loc["naive", "shared_by"].tolist() == ["naive zhan", "naive"]
    assert len(made) == len(table)  # no method is missing
    for kind in ("md", "tex"):
        assert filtered.path(f"smoke/tables/table_filters.{kind}").stat().st_size > 1000
