"""What a changed source, parameter or folder makes again: job lists of a finished study."""

import re

import pytest
from conftest import Workflow
from pages import copy_repository


@pytest.fixture
def copy(tmp_path):
    """A copy of the repository's files, which has no installed twin."""
    (tmp_path / "copy").mkdir()
    return copy_repository(tmp_path / "copy")


AFTER_TRAINING = {"rerank", "evaluate", "summarise_metrics", "figure_1", "all"}
COUPLED = {"train_coupled_ranker", "rerank", "evaluate", "summarise_metrics", "all"}


@pytest.mark.parametrize(
    ("file", "pattern", "new", "expected"),
    [
        # a changed formula: what uses it, and what follows
        ("poolbias/weights/coupling.py", r"return 1\.0 \+", "return 1.5 +", COUPLED),
        (
            "poolbias/losses/pairwise.py",
            "negative - positive",
            "2 * negative - positive",
            {"train_ranker", "train_coupled_ranker"} | AFTER_TRAINING,
        ),
        ("poolbias/figures/figure_1.py", r"\Z", "\nX = 1\n", {"figure_1", "all"}),
        # the same meaning
        ("poolbias/losses/pairwise.py", r"    return F", "    # stable\n    return F", set()),
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
    assert set(edited.jobs(configfile=copy / "config" / "smoke.yaml")) == expected


def test_a_moved_repository_with_new_files_reruns_nothing(smoke, copy):
    moved = copy.rename(copy.parent / "elsewhere")
    assert Workflow(smoke.folder, root=moved).jobs(configfile=moved / "config/smoke.yaml") == {}


def test_a_changed_learning_rate_names_other_experiments_and_keeps_the_old(smoke, copy):
    study = copy / "config" / "smoke.yaml"
    study.write_text(
        study.read_text().replace("  steps: 6\n", "  steps: 6\n  learning_rate: 2.0e-4\n")
    )
    jobs = Workflow(smoke.folder, root=copy).jobs(configfile=study)
    assert jobs["train_ranker"] == 3
    assert jobs["train_coupled_ranker"] == 2
    assert "build_candidates" not in jobs
    assert "search_bm25" not in jobs
