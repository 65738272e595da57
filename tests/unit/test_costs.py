"""Costs against numbers worked out by hand."""

from pathlib import Path

import pytest
import yaml

from poolbias.config.experiments import rows
from poolbias.config.load import load
from poolbias.costs.jobs import of_experiment
from poolbias.costs.throughput import Encoder, read_throughput
from poolbias.costs.told import costs, told
from poolbias.errors import ConfigError
from poolbias.sources import read_sources

ROOT = Path(__file__).resolve().parents[2]
TABLE = ROOT / "config" / "throughput.yaml"
OFFICIAL = read_sources(ROOT / "config" / "sources.yaml")


def paper():
    return load(ROOT / "config" / "paper.yaml")


def test_operations_of_a_pass_by_hand():
    tiny = Encoder(layers=2, width=4, inner=8, parameters=0, vocabulary=0)
    # A layer and token: 4 x 16 + 2 x 32 = 128 weights, 256 operations; attention 4 x 10 x 4 = 160.
    assert tiny.flops(3, 10) == 3 * 2 * (256 + 160)
    assert tiny.flops(3, 10, layers=1) == 3 * (256 + 160)
    bert = read_throughput(TABLE, "cuda").encoder("google-bert/bert-base-uncased")
    assert bert.flops(1, 0) == pytest.approx(2 * 84_934_656)  # 85 million weights in its layers


def test_a_naive_training_by_hand():
    study, table = paper(), read_throughput(TABLE, "cuda")
    row = next(
        r for r in rows(study) if r.experiment.collection == "passage" and r.method == "naive"
    )
    jobs = {job.name: job for job in of_experiment(study, row, table, OFFICIAL)}
    training = jobs[f"train {row.experiment.name} seed 1"]
    bert = table.encoder("*")
    sequences = 150_000 * 64 * 2
    assert training.flops == pytest.approx(3 * bert.flops(sequences * (8 + 75 + 3), 86))
    assert training.most_flops == pytest.approx(3 * bert.flops(sequences * 256, 256))
    assert training.bytes == 109_500_000 * 4
    ranking = jobs[f"rerank {row.experiment.name} bm25 seed 1"]
    assert ranking.flops == pytest.approx(bert.flops((6980 + 43) * 1000 * 86, 86))
    assert jobs["retrieve_source collectionandqueries.tar.gz/"].bytes == 1057717952


def test_a_coupled_training_costs_its_measured_multiple_and_both_models():
    study, table = paper(), read_throughput(TABLE, "cuda")
    held = {
        r.label: r for r in rows(study) if r.retriever == "ance" and r.experiment.ranker == "bert"
    }
    found = {}
    for label in ("naive", "cet-paper-tau1"):
        jobs = of_experiment(study, held[label], table, OFFICIAL)
        name = f"train {held[label].experiment.name} seed 1"
        found[label] = next(job for job in jobs if job.name == name)
    assert found["cet-paper-tau1"].flops / found["naive"].flops == pytest.approx(2.72)
    assert found["cet-paper-tau1"].bytes == 2 * found["naive"].bytes


def test_a_teacher_scores_what_the_study_says():
    study, table = paper(), read_throughput(TABLE, "cuda")
    row = next(
        r for r in rows(study) if r.method == "rocketqa" and r.experiment.collection == "passage"
    )
    jobs = {job.name: job for job in of_experiment(study, row, table, OFFICIAL)}
    (scored,) = [job for name, job in jobs.items() if name.startswith("score_candidates")]
    assert scored.bytes == (502_939 * 64 + 532_761) * 12


def test_tables_share_jobs_and_everything_counts_each_once():
    study, table = paper(), read_throughput(TABLE, "cuda")
    found = costs(study, table, OFFICIAL)
    everything = {job.name for job in found.pop("everything")}
    for name, jobs in found.items():
        names = [job.name for job in jobs]
        assert names, name
        assert len(names) == len(set(names)), name
        assert set(names) <= everything, name
    trained = [job.name for job in found["table_3"] if job.name.startswith("train ")]
    assert trained
    assert all(name.startswith("train dureader-retrieval.") for name in trained)


def test_what_is_told_says_what_was_measured():
    text = told(paper(), read_throughput(TABLE, "cuda"), OFFICIAL)
    assert "not measured: an assumption of config/throughput.yaml" in text
    for name in ("table_1", "table_4", "figure_5", "everything"):
        assert any(line.startswith(name) for line in text.splitlines())
    default = told(load(ROOT / "config" / "config.yaml"), read_throughput(TABLE, "cpu"), {})
    assert "(measured)" in default


def test_a_table_that_lacks_something_is_told(tmp_path):
    held = yaml.safe_load(TABLE.read_text())
    held["devices"]["cpu"].pop("share")
    path = tmp_path / "throughput.yaml"
    path.write_text(yaml.safe_dump(held))
    with pytest.raises(ConfigError, match=r"device 'cpu' \(KeyError: 'share'\); restore"):
        read_throughput(path, "cpu")
