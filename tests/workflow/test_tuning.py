"""The choice of settings on dev, and what the study that reports them makes of it."""

import pandas as pd
import pytest
import yaml
from conftest import SMOKE, Workflow
from pages import copy_repository


def study(folder, name, **changes):
    text = yaml.safe_load(SMOKE.read_text())
    path = folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump(text | changes | {"study": name}, sort_keys=False))
    return path


@pytest.fixture
def copy(smoke, tmp_path):
    return Workflow(copy_repository(tmp_path, smoke), root=tmp_path)


def test_the_best_setting_on_dev_by_labels_is_chosen_and_marked(copy):
    evaluation = yaml.safe_load(SMOKE.read_text())["evaluation"]
    method = {"name": "naive", "depth": 50}
    tuning = study(
        copy.folder,
        "rates",
        evaluation={**evaluation, "split": "dev", "selection_models": []},
        tuning={"configurations": 2, "measure": "RR@10"},
        experiments=[
            {
                "retriever": "dense",
                "method": method,
                "training": {"learning_rate": [1e-4, 3e-3]},
            }
        ],
    )
    jobs = copy.jobs("choose_configurations", configfile=tuning)
    expected = {"train_ranker": 1, "rerank": 2, "evaluate": 2, "choose_configurations": 1}
    assert jobs == expected  # the first is the smoke study's ranker

    copy.run("choose_configurations", configfile=tuning)
    table = pd.read_csv(copy.path("rates/configurations.tsv"), sep="\t")
    means = []
    for experiment in table["experiment"]:
        values = pd.read_csv(
            copy.path(f"metrics/rankings/{experiment}/seed-1/*/top-10/dev.labels-*.tsv"), sep="\t"
        )
        means.append(values.loc[values["measure"] == "RR@10", "value"].mean())
    assert table["mean"].tolist() == pytest.approx(means, abs=1e-6)
    best = means.index(max(means))
    assert table["chosen"].tolist() == ["yes" if row == best else "no" for row in (0, 1)]
    assert table["changed"].fillna("").tolist() == ["", "learning_rate 0.003"]

    report = study(copy.folder, "other", tables={"chosen_by": "rates"})
    output = copy.run("--dry-run", "--printshellcmds", "table_1", configfile=report)
    assert f'"chosen": ["{table["experiment"][best]}"]' in output


def test_a_study_that_chooses_nothing_says_so(smoke):
    output = smoke.run("--dry-run", "choose_configurations", check=False)
    assert "this study chooses no settings, need the section `tuning`" in output
