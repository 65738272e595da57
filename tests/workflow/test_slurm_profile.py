"""The Slurm profile, as far as it can be judged without Slurm: dry runs and what it says."""

import re

import pytest
import yaml
from conftest import ROOT, SMOKE, Workflow
from pages import copy_repository

PROFILE = yaml.safe_load((ROOT / "slurm" / "config.yaml").read_text())
DEFAULT = yaml.safe_load((ROOT / "profiles" / "default" / "config.yaml").read_text())
SOURCES = "\n".join(path.read_text() for path in [ROOT / "Snakefile", *ROOT.glob("rules/*.smk")])
MODELS = {"encode_texts", "train_ranker", "train_coupled_ranker", "rerank"}


@pytest.fixture
def plain(tmp_path):
    """A copy of the repository without messages: dry runs then list each job's resources."""
    root = copy_repository(tmp_path / "copy")
    for path in root.glob("rules/*.smk"):
        text = re.sub(r"^    message:\n(?: {8}.*\n)+", "", path.read_text(), flags=re.MULTILINE)
        path.write_text(text)
    return Workflow(tmp_path / "study", root=root)


def resources(workflow, *words, configfile=SMOKE):
    """Return the resources that a job of each rule would ask Slurm for."""
    output = workflow.run("--dry-run", "--profile", "slurm", *words, configfile=configfile)
    jobs = re.findall(
        r"^ *(?:local)?rule (\w+):\n(?: .*\n)*? +resources: (.+)$", output, re.MULTILINE
    )
    assert len(jobs) > 30
    return {rule: dict(item.split("=", 1) for item in told.split(", ")) for rule, told in jobs}


@pytest.fixture
def on_gpus(tmp_path):
    """A study file whose models run on a GPU."""
    study = yaml.safe_load(SMOKE.read_text()) | {"device": "cuda", "threads": 4}
    for ranker in study["rankers"].values():
        ranker |= {"engine": "plain"}
    path = tmp_path / "cuda.yaml"
    path.write_text(yaml.safe_dump(study))
    return path


def test_rules_that_run_models_ask_for_a_gpu_and_their_threads(plain, on_gpus):
    asked = resources(plain, configfile=on_gpus)
    assert set(asked) >= MODELS | {"evaluate", "search_bm25"}
    with_gpu = {rule for rule, told in asked.items() if told.get("gpu", "0") != "0"}
    assert with_gpu >= MODELS
    assert not with_gpu & {"evaluate", "build_collection", "search_bm25", "build_candidates"}
    assert all(asked[rule]["gpu"] == "1" for rule in with_gpu)
    # not capped at the cores of the machine that submits
    assert {asked[rule]["cpus_per_task"] for rule in MODELS} == {"4"}
    assert resources(plain)["train_ranker"]["gpu"] == "0"


def test_memory_and_time_grow_with_the_attempt(plain):
    first, third = (resources(plain, *words) for words in ((), ("--attempt", "3")))
    targets = {"all", "figures", "tables"}
    for rule in set(first) - targets:
        for name in ("mem_mb", "runtime"):
            assert int(third[rule][name]) == 3 * int(first[rule][name]), (rule, name)
    assert PROFILE["retries"] >= 1
    assert not re.search(r"^ +retries:", SOURCES, re.MULTILINE)  # they would multiply


def test_the_profile_sets_nothing_that_the_default_one_overrides():
    assert not set(PROFILE) & set(DEFAULT)
    assert not {"default-resources", "retries", "jobs", "executor"} & set(DEFAULT)


def test_slurm_remembers_a_finished_job_until_it_is_asked_for():
    assert PROFILE["slurm-status-command"] == "squeue"
    assert 3 * PROFILE["slurm-init-seconds-before-status-checks"] <= 300  # Slurm's own default
    assert "slurm-array-jobs" not in PROFILE


def test_light_rules_and_those_on_the_network_stay_on_the_machine_that_submits():
    listed = re.search(r"^localrules:\n((?:    .*\n)+)", SOURCES, re.MULTILINE)[1]
    local = set(re.findall(r"\w+", listed))
    rules = re.findall(r"^rule (\w+):\n((?:(?:    .*)?\n)+)", SOURCES, re.MULTILINE)
    assert len(rules) > 20
    local |= {name for name, body in rules if "localrule: True" in body}
    light = r"(figure|table)_.*|claims|report|summarise_.*|retrieve_.*|all|figures|tables|doctor"
    names = {name for name, _ in rules}
    assert {name for name in names if re.fullmatch(light, name)} <= local
    assert not {"evaluate", "build_index", *MODELS} & local
    assert local <= names


def test_groups_are_of_rules_that_there_are():
    assert set(PROFILE["groups"]) <= set(re.findall(r"^rule (\w+):", SOURCES, re.MULTILINE))
    assert set(PROFILE["groups"].values()) == set(PROFILE["group-components"])
