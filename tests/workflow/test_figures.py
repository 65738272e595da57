"""Figures 3 to 5 and the probe on the smoke study, and what each asks for."""

import gzip

import pandas as pd
import pytest
from conftest import Workflow

from poolbias.formats import read_qrels, read_run

PAIR = ["query_id", "document_id"]


@pytest.mark.parametrize("name", ["figure_3", "figure_4", "figure_5"])
def test_a_figure_is_there_with_its_table_and_manifest(smoke, name):
    for kind in ("pdf", "svg", "png", "tsv", "manifest.json"):
        assert smoke.path(f"smoke/figures/{name}.{kind}").stat().st_size > 500
    table = pd.read_csv(smoke.path(f"smoke/figures/{name}.tsv"), sep="\t")
    assert {"ours", "paper"} <= set(table["source"].dropna()) | {"ours"}
    assert table["value"].notna().any()


def probes(smoke):
    """Yield the files of each probe with the folder of its training."""
    for path in sorted((smoke.folder / "results" / "probes").glob("*/seed-1/*/test.tsv.gz")):
        yield path.parts[-4], pd.read_csv(path, sep="\t")


def test_a_probe_scores_as_the_ranking_does(smoke):
    compared = 0
    for experiment, probe in probes(smoke):
        ranking = read_run(smoke.path(f"rankings/{experiment}/seed-1/dense*/top-10/test.run.gz"))
        last = probe[(probe["step"] == 6) & (probe["rank"] <= 10)]
        both = last.merge(ranking, on=PAIR, suffixes=("", "_of_ranker"))
        assert len(both) == len(last)  # both look at the first ten
        assert (both["r"] - both["score"]).abs().max() < 1e-5
        assert both["r"].nunique() > 5
        compared += 1
    assert compared == 2


def test_a_probe_holds_what_is_known_of_each_document(smoke):
    collection = smoke.path("collections/*")
    known = {
        "relevant": read_qrels(collection / "truth.qrels"),
        "labelled": read_qrels(next(collection.glob("pools/*/labels.qrels"))),
        "pooled": pd.read_csv(next(collection.glob("pools/*/pool.tsv")), sep="\t", dtype="str"),
    }
    for _, probe in probes(smoke):
        found = list(probe[PAIR].itertuples(index=False, name=None))
        for column, frame in known.items():
            pairs = set(frame[PAIR].itertuples(index=False, name=None))
            assert probe[column].tolist() == [int(pair in pairs) for pair in found]
        assert (probe.groupby(["step", "query_id"])["paired"].sum() == 1).all()
        assert (probe.loc[probe["paired"] == 1, "labelled"] == 1).all()
        queries = probe.groupby("step")["query_id"].nunique()
        assert queries[3] in (4, 5)  # a sample of four, and the query that is shown
        assert queries[6] > 5


def test_premises_are_told_for_both_forms_and_steps(smoke):
    table = pd.read_csv(smoke.path("smoke/premises.tsv"), sep="\t")
    assert set(table["method"]) == {"cet-paper-tau1", "cet-released-tau10"}
    assert set(table["step"]) == {3, 6}
    told = table[table["status"] == "mean"]
    assert told["mean"].between(told["low"] - 1e-6, told["high"] + 1e-6).all()
    with gzip.open(smoke.path("smoke/premises_per_query.tsv.gz"), "rt") as text:
        values = pd.read_csv(text, sep="\t")
    means = values.groupby(["method", "step", "premise"])["value"].mean()
    for row in told.itertuples():
        assert row.mean == pytest.approx(means[row.method, row.step, row.premise], abs=1e-6)


def test_each_figure_makes_what_it_needs_and_no_more(tmp_path):
    study = Workflow(tmp_path)
    third, fourth, fifth = (study.jobs(f"figure_{number}") for number in (3, 4, 5))
    assert (third["train_ranker"], third["train_coupled_ranker"]) == (2, 2)
    assert "probe_weights" not in third
    # the teacher of rocketqa is the naive ranker, which is shown too
    assert (fourth["train_ranker"], fourth["train_coupled_ranker"]) == (2, 2)
    assert "count_false_negatives" not in fourth
    assert (fifth["train_coupled_ranker"], fifth["probe_weights"]) == (2, 2)
    assert "train_ranker" not in fifth
    assert "rerank" not in fifth


def test_another_query_probes_again_and_trains_nothing(smoke, tmp_path):
    text = (smoke.root / "config" / "smoke.yaml").read_text()
    other = text.replace("figures:\n", "figures:\n  figure_5: {query: HP_0000591.name}\n")
    (tmp_path / "other.yaml").write_text(other)
    jobs = smoke.jobs("figure_5", configfile=tmp_path / "other.yaml")
    assert jobs == {"probe_weights": 2, "measure_premises": 1, "figure_5": 1}
