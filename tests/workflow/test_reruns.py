"""What a changed source, parameter or folder makes again: job lists of a finished study."""

import re

import pytest
import yaml
from conftest import ROOT, Workflow, working
from pages import copy_repository


@pytest.fixture
def copy(tmp_path):
    """A copy of the repository's files, which has no installed twin."""
    (tmp_path / "copy").mkdir()
    return copy_repository(tmp_path / "copy")


AFTER_TRAINING = {"rerank", "evaluate"}
# what follows from a teacher's training
TAUGHT = {"score_candidates", "build_candidates"}
COUPLED = {"train_coupled_ranker", "probe_weights", *AFTER_TRAINING}


@pytest.mark.parametrize(
    ("file", "pattern", "new", "expected"),
    [
        # a changed formula: what uses it, and what follows
        ("poolbias/weights/coupling.py", r"return 1\.0 \+", "return 1.5 +", COUPLED),
        (
            "poolbias/losses/pairwise.py",
            "negatives - positive",
            "2 * negatives - positive",
            {"train_ranker"} | TAUGHT | COUPLED,
        ),
        # the same meaning
        ("poolbias/losses/pairwise.py", r"    losses = F", "    # stable\n    losses = F", set()),
        ("poolbias/training/loop.py", r'"""The training loop', '"""A training loop', set()),
        ("workflow/scripts/rerank.py", r"\Z", "\n# the end\n", set()),
        ("poolbias/stage.py", r"\Z", "\nX = 1\n", set()),
    ],
)
def test_reruns_follow_the_meaning_of_the_code(smoke, copy, file, pattern, new, expected):
    path = copy / file
    text, count = re.subn(pattern, new, path.read_text(), count=1)
    assert count == 1
    path.write_text(text)
    edited = Workflow(smoke.folder, root=copy)
    jobs = edited.jobs(configfile=copy / "config" / "smoke.yaml")
    assert set(working(jobs)) == expected
    assert bool(jobs) == bool(expected)


def test_a_changed_plot_redraws_one_figure(smoke, copy):
    path = copy / "poolbias" / "figures" / "figure_1.py"
    path.write_text(path.read_text() + "\nX = 1\n")
    edited = Workflow(smoke.folder, root=copy)
    jobs = edited.jobs(configfile=copy / "config" / "smoke.yaml")
    assert set(jobs) == {"figure_1", "report", "all"}  # the report shows the figure


def test_a_moved_repository_with_new_files_reruns_nothing(smoke, copy):
    moved = copy.rename(copy.parent / "elsewhere")
    assert Workflow(smoke.folder, root=moved).jobs(configfile=moved / "config/smoke.yaml") == {}


def test_a_changed_learning_rate_names_other_experiments_and_keeps_the_old(smoke, copy):
    study = copy / "config" / "smoke.yaml"
    study.write_text(
        study.read_text().replace("  steps: 6\n", "  steps: 6\n  learning_rate: 2.0e-4\n")
    )
    jobs = Workflow(smoke.folder, root=copy).jobs(configfile=study)
    assert jobs["train_ranker"] == 7
    assert jobs["train_coupled_ranker"] == 4
    assert (jobs["score_candidates"], jobs["build_candidates"]) == (1, 1)  # of the teacher
    assert "search_bm25" not in jobs


def test_rankers_of_other_code_are_told_of_where_snakemake_forgot(smoke, tmp_path):
    folder = copy_repository(tmp_path, smoke)
    (folder / ".snakemake").rename(folder / "forgotten")
    copy = Workflow(folder, root=folder)
    assert "made by other code" not in copy.run("--dry-run")
    loss = folder / "poolbias" / "weights" / "coupling.py"
    loss.write_text(loss.read_text().replace("return 1.0 +", "return 1.5 +"))
    output = copy.run("--dry-run")
    told = re.findall(r"--forcerun (results/rankers/\S+/manifest.json)", output)
    assert len(told) == 4
    assert all(".cet" in path for path in told)
    assert set(working(copy.jobs("--forcerun", *told))) == COUPLED


def test_studies_share_results_whatever_they_call_things_and_measure(smoke, tmp_path):
    study = yaml.safe_load((ROOT / "config" / "smoke.yaml").read_text())
    text = yaml.safe_dump(study | {"study": "other"}, sort_keys=False)
    for old, new in (("outside", "annotators"), ("bert:", "mine:"), ("- 3\n", "")):
        assert old in text
        text = text.replace(old, new)
    text = text.replace("- nDCG@10\n", "- nDCG@5\n")
    (tmp_path / "other.yaml").write_text(text)
    jobs = smoke.jobs(configfile=tmp_path / "other.yaml")
    assert set(working(jobs)) == {"evaluate", "probe_weights"}  # of other steps
    assert smoke.jobs() == {}
    # nothing of this study's is in the other's way: its metrics have names of their own
    output = smoke.run("--dry-run", configfile=tmp_path / "other.yaml")
    assert re.search(r"test\.truth-[0-9a-f]{6}\.tsv", output)


def test_threads_of_trainings_do_not_touch_what_they_share(smoke, tmp_path):
    study = yaml.safe_load((ROOT / "config" / "smoke.yaml").read_text()) | {"threads": 2}
    (tmp_path / "threads.yaml").write_text(yaml.safe_dump(study, sort_keys=False))
    jobs = smoke.jobs(configfile=tmp_path / "threads.yaml")
    assert set(working(jobs)) == {"train_ranker"} | TAUGHT | COUPLED
