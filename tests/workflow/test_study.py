"""The whole DAG on the smoke study: what it makes, what it makes again, and what it says."""

import hashlib
import json
import os
import re
import subprocess
import sys
from collections import Counter

import numpy as np
import pandas as pd
import pytest
import yaml
from conftest import ROOT, SMOKE, Workflow, working
from pages import copy_repository

from poolbias.evaluation import canonical
from poolbias.formats import read_qrels, read_run

METHODS = [
    *("naive", "naive", "oracle", "cet-paper-tau1", "cet-released-tau10"),
    *("cet-paper-tau1-clip10-running0.99", "cet_listwise-paper-tau1-n2", "dml-mu0-sigma0.5"),
    *("zhan", "rocketqa-pair-removed0.5", "rance-one_minus_p", "sieve-30"),
]


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def changed(tmp_path, **changes):
    study = yaml.safe_load(SMOKE.read_text()) | changes
    path = tmp_path / "study.yaml"
    path.write_text(yaml.safe_dump(study))
    return path


def test_figure_1_and_the_metrics_hold_every_ranker(smoke):
    for kind in ("pdf", "svg", "png", "tsv"):
        assert smoke.path(f"smoke/figures/figure_1.{kind}").stat().st_size > 500
    figure = pd.read_csv(smoke.path("smoke/figures/figure_1.tsv"), sep="\t")
    ours = figure[(figure["source"] == "ours") & (figure["status"] == "mean")]
    for panel in "abd":
        assert set(ours.loc[ours["panel"] == panel, "retriever"]) == {"bm25", "dense"}
    metrics = pd.read_csv(smoke.path("smoke/metrics.tsv"), sep="\t")
    runs = metrics[metrics["experiment"] == "run"]
    assert set(runs["retriever"]) == {"bm25", "dense"}
    assert set(runs["method"]) == {"run"}
    assert "R@50" in set(runs["measure"])
    rankings = metrics[metrics["experiment"] != "run"]
    named = rankings.drop_duplicates(["experiment", "retriever"])
    assert sorted(named["method"]) == sorted(METHODS)
    assert named["experiment"].nunique() == len(METHODS) - 1  # zhan's is naive's
    assert "R@50" not in set(rankings["measure"])  # they are 10 deep
    assert set(metrics["judgements"]) == {"truth", "labels"}
    assert metrics["mean"].between(metrics["low"], metrics["high"]).all()


def test_every_query_is_in_a_run_or_in_the_list_of_those_without_hits(smoke):
    queries = pd.read_csv(smoke.path("collections/*/queries.tsv"), sep="\t", dtype=str)
    for folder in (smoke.folder / "results" / "runs").glob("*/*"):
        without = pd.read_csv(folder / "no_hits.tsv", sep="\t", dtype=str)
        found = set(without["query_id"])
        for split in ("train", "dev", "test"):
            run = read_run(folder / f"{split}.run.gz")
            pd.testing.assert_frame_equal(
                canonical(run).sort_values(["query_id", "rank"], ignore_index=True),
                run.astype({"score": "float32"}).sort_values(
                    ["query_id", "rank"], ignore_index=True
                ),
                check_like=True,
            )
            asked = set(queries.loc[queries["split"] == split, "query_id"])
            assert set(run["query_id"]) <= asked
            found |= set(run["query_id"])
        assert found == set(queries["query_id"])


def test_candidates_are_unlabelled_training_documents_of_the_run(smoke):
    folder = smoke.path("candidates/*dense.uniform-*[!n]")
    collection = smoke.path("collections/*")
    queries = pd.read_csv(collection / "queries.tsv", sep="\t", dtype=str)
    documents = pd.read_csv(collection / "documents.tsv", sep="\t", dtype=str, quoting=3)
    labels = read_qrels(next(collection.glob("pools/*/labels.qrels")))
    truth = set(
        read_qrels(collection / "truth.qrels")[["query_id", "document_id"]].itertuples(
            index=False, name=None
        )
    )
    run = read_run(smoke.path("runs/*/dense*/train.run.gz"))
    labelled = set(labels[["query_id", "document_id"]].itertuples(index=False, name=None))
    array = {path.stem: np.load(path) for path in folder.glob("*.npy")}
    owner = np.repeat(array["query_rows"], np.diff(array["offsets"]))
    pairs = list(
        zip(
            queries["query_id"].iloc[owner],
            documents["document_id"].iloc[array["documents"]],
            strict=True,
        )
    )
    expected = {
        (row.query_id, row.document_id)
        for row in run.itertuples()
        if (row.query_id, row.document_id) not in labelled
        and row.query_id in set(labels["query_id"])
    }
    assert set(pairs) == expected
    assert [pair in truth for pair in pairs] == array["relevant"].astype(bool).tolist()
    assert set(queries["split"].iloc[owner]) == {"train"}


def test_a_finished_study_has_nothing_to_do_even_after_a_touch(smoke):
    assert smoke.jobs() == {}
    (ROOT / "workflow" / "scripts" / "evaluate.py").touch()
    (ROOT / "Snakefile").touch()
    assert smoke.jobs() == {}


def test_a_figure_is_redrawn_alone_to_the_same_bytes(smoke, tmp_path):
    copy = Workflow(copy_repository(tmp_path, smoke), root=tmp_path)
    files = [copy.path(f"smoke/figures/figure_1.{kind}") for kind in ("pdf", "svg", "png", "tsv")]
    before = [digest(file) for file in files]
    for file in files:
        file.unlink()
    assert copy.jobs("figure_1") == {"figure_1": 1}
    copy.run("figure_1")
    assert [digest(file) for file in files] == before


@pytest.mark.parametrize(("name", "models"), [("naive", "r"), ("cet-paper-tau1", "rs")])
def test_a_script_run_by_hand_makes_the_same_bytes(smoke, tmp_path, name, models):
    folder = smoke.path(f"rankers/*dense.{name}.*/seed-1")
    manifest = json.loads((folder / "manifest.json").read_text())
    stage, experiment = manifest["stage"], folder.parent.name
    candidates = smoke.path("candidates/*dense.uniform-??????")
    options = {
        "parameters": smoke.folder / f"results/logs/{stage}/{experiment}/seed-1.json",
        "tokens": smoke.path("tokens/*/*"),
        "candidates": candidates,
        **{model: tmp_path / model.upper() / "model.safetensors" for model in models},
        **{file: tmp_path / f"{file}.tsv" for file in ("training", "timing", "manifest")},
    }
    words = [word for option, path in options.items() for word in (f"--{option}", path)]
    script = ROOT / "workflow" / "scripts" / f"{stage}.py"
    subprocess.run([sys.executable, script, *words], check=True, capture_output=True)
    for file in ("training.tsv", *(f"{model.upper()}/model.safetensors" for model in models)):
        assert digest(tmp_path / file) == digest(folder / file)


def test_rankers_load_as_hugging_face_folders_and_snapshots_end_at_the_ranker(smoke):
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    folder = smoke.path("rankers/*dense.cet-paper-tau1.*/seed-1")
    for name in ("R", "S"):
        AutoModelForSequenceClassification.from_pretrained(folder / name)
        assert AutoTokenizer.from_pretrained(folder / name).sep_token == "[SEP]"
        last = folder / "snapshots" / "step-6" / name / "model.safetensors"
        assert digest(last) == digest(folder / name / "model.safetensors")
        first = folder / "snapshots" / "step-3" / name / "model.safetensors"
        assert digest(first) != digest(last)
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["parameters"]["weight"]["form"] == "paper"
    assert {"python", "torch", "transformers"} <= set(manifest["versions"])
    assert {"tokens", "candidates"} == {path.split("/")[1] for path in manifest["inputs"]}
    for result in ("figures/figure_1", "metrics"):
        told = json.loads(smoke.path(f"smoke/{result}.manifest.json").read_text())
        for path, expected in told["inputs"].items():
            place = smoke.folder if path.startswith("results/") else smoke.root  # or the repository
            assert digest(place / path) == expected


def test_records_of_a_coupled_training_tell_its_weights(smoke):
    training = pd.read_csv(
        smoke.path("rankers/*dense.cet-paper-tau1.*/seed-1/training.tsv"), sep="\t"
    )
    assert training["step"].tolist() == [1, 2, 3, 4, 5, 6]
    for weight in ("w_r", "w_s"):
        statistics = ("mean", "q10", "q50", "q90", "share_above_1", "effective_share")
        for name in (*statistics, "false_negatives_mean", "true_negatives_mean"):
            assert f"{weight}_{name}" in training
        assert training[f"{weight}_effective_share"].between(0, 1).all()


def test_force_and_until_do_what_a_user_expects(smoke):
    # the report shows the figure
    assert smoke.jobs("--forcerun", "figure_1") == {"figure_1": 1, "report": 1, "all": 1}
    # a new training is followed by what depends on it
    forced = smoke.jobs("--forcerun", "train_ranker")
    assert forced["train_ranker"] == 7
    assert forced["rerank"] == 8  # zhan ranks with naive's
    assert forced["evaluate"] == 16
    assert (forced["score_candidates"], forced["build_candidates"]) == (1, 1)  # of the teacher
    assert "train_coupled_ranker" not in forced
    assert "search_bm25" not in forced
    until = smoke.jobs("--forcerun", "search_dense", "--until", "search_dense")
    assert until == {"search_dense": 1}


def test_one_more_temperature_trains_one_ranker(smoke, tmp_path):
    study = yaml.safe_load(SMOKE.read_text())
    cet = {"name": "cet", "form": "paper", "temperature": 3.0, "depth": 50}
    more = [*study["experiments"], {"retriever": "dense", "method": cet}]
    jobs = smoke.jobs(configfile=changed(tmp_path, experiments=more))
    assert working(jobs) == {
        "train_coupled_ranker": 1, "rerank": 1, "evaluate": 2,
    }  # fmt: skip


def test_only_rules_that_run_models_ask_for_a_gpu(tmp_path):
    for device, gpus in (("cuda", "1"), ("cpu", "0")):
        study = changed(
            tmp_path,
            device=device,
            rankers={"bert": {"kind": "bert", "layers": 1, "engine": "plain"}},
        )
        output = Workflow(tmp_path).run("--dry-run", configfile=study)
        told = re.findall(r"Job \d+: (\S+) .*\(\d+ threads, (\d) GPUs\)", output)
        assert {number for _, number in told} == {gpus}
        assert Counter(verb for verb, _ in told) == {
            "Encode": 1, "Train": 11, "Re-rank": 13, "Score": 1, "Probe": 2,
        }  # fmt: skip


def test_a_job_without_its_device_stops_with_one_sentence(smoke, tmp_path):
    parameters = json.loads(
        next((smoke.folder / "results/logs/rerank").rglob("*.json")).read_text()
    )
    file = tmp_path / "parameters.json"
    file.write_text(json.dumps(parameters | {"device": "cuda"}))
    some = str(SMOKE)
    options = [f"--{name}={some}" for name in ("ranker", "run", "queries", "documents", "tokens")]
    outputs = [f"--{name}={tmp_path / name}" for name in ("ranking", "manifest")]
    done = subprocess.run(
        [
            sys.executable,
            ROOT / "workflow/scripts/rerank.py",
            f"--parameters={file}",
            *options,
            *outputs,
        ],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT), "CUDA_VISIBLE_DEVICES": ""},
        check=False,
    )
    assert done.returncode == 1
    assert "device is 'cuda', but torch finds no GPU" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "ranking").exists()


def test_a_wrong_study_file_is_told_in_one_sentence_before_any_job(tmp_path):
    study = changed(tmp_path, trainning={"steps": 3})
    output = Workflow(tmp_path).run("--dry-run", configfile=study, check=False)
    assert "trainning" in output
    assert "did you mean 'training'" in output
    assert "Traceback" not in output
    assert not (tmp_path / "results").exists()


def test_a_study_file_is_complete_by_itself(tmp_path):
    default, smoke = (
        Workflow(tmp_path).run("--dry-run", configfile=file) for file in (None, SMOKE)
    )
    pattern = r"results/rankers/(\S+?)/seed"
    assert len(set(re.findall(pattern, default))) >= 5
    assert len(set(re.findall(pattern, smoke))) == len(METHODS) - 1
    assert not set(re.findall(pattern, default)) & set(re.findall(pattern, smoke))
    two = Workflow(tmp_path).run(
        "--dry-run",
        "--configfile",
        ROOT / "config/config.yaml",
        SMOKE,
        configfile=None,
        check=False,
    )
    assert "found 2 files" in two


def test_figure_1_asks_for_what_it_needs_and_no_more(tmp_path):
    jobs = Workflow(tmp_path).jobs("figure_1")
    assert jobs["train_ranker"] == 2
    assert "train_coupled_ranker" not in jobs
    assert "summarise_metrics" not in jobs


def test_a_file_asks_for_its_ancestors_and_nothing_else(tmp_path):
    study = Workflow(tmp_path)
    listed = study.run("--dry-run")
    (folder,) = set(re.findall(r"results/collections/(hpo-[0-9a-f]{6})/queries.tsv", listed))
    jobs = study.jobs(f"results/collections/{folder}/queries.tsv")
    assert jobs == {"build_collection": 1}
    run = study.jobs(f"results/runs/{folder}/bm25-770f2e/test.run.gz")
    assert run == {"build_collection": 1, "build_index": 1, "search_bm25": 1}


def test_a_damaged_manifest_stops_nothing(smoke, tmp_path):
    copy = Workflow(copy_repository(tmp_path, smoke), root=tmp_path)
    copy.path("rankers/*oracle*/seed-1/manifest.json").write_bytes(b"\xff{")
    assert "oracle" in re.search(r"(\S+): made by other code", copy.run("--dry-run"))[1]


@pytest.mark.parametrize("text", ["study: collections", "seeds: [1" + 400 * "0" + "]"])
def test_values_that_cannot_be_are_told_without_a_traceback(tmp_path, text):
    key = text.split(":")[0]
    lines = [
        text if line.startswith(f"{key}:") else line for line in SMOKE.read_text().splitlines()
    ]
    (tmp_path / "wrong.yaml").write_text("\n".join(lines))
    output = Workflow(tmp_path).run("-n", configfile=tmp_path / "wrong.yaml", check=False)
    assert "wrong.yaml" in output
    assert "Traceback" not in output


@pytest.mark.parametrize("target", ["all", "figures", "figure_1"])
def test_targets_are_listed_with_a_sentence(target):
    output = Workflow(ROOT).run("--list", configfile=None)
    (line,) = [line for line in output.splitlines() if line.split(" ")[0] == target]
    assert len(line.split()) > 3
