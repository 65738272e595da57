"""The fingerprint of a stage's code: what changes it, and what must not."""

import shutil
from pathlib import Path

import pytest

from poolbias import fingerprint as module
from poolbias.fingerprint import fingerprint

ROOT = Path(__file__).resolve().parents[2]
CHOICES = ["poolbias.weights.coupling:coupled", "poolbias.losses.pairwise:pairwise_cross_entropy"]


@pytest.fixture
def copy(tmp_path):
    for folder in ("poolbias", "workflow"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pyc*"))
    return tmp_path


def prints(root):
    for cached in (module._imports, module._meaning):
        cached.cache_clear()
    return {
        "train": fingerprint(root, "train_coupled_ranker", CHOICES),
        "naive": fingerprint(root, "train_ranker", ["poolbias.weights.constant"]),
        "figure": fingerprint(root, "figure_1"),
        "evaluate": fingerprint(root, "evaluate"),
        "rerank": fingerprint(root, "rerank"),
    }


def changed(root, file, old, new):
    before = prints(root)
    path = root / file
    text = path.read_text()
    assert text.count(old) >= 1
    path.write_text(text.replace(old, new, 1))
    after = prints(root)
    return {name for name in before if before[name] != after[name]}


@pytest.mark.parametrize(
    ("file", "old", "new", "expected"),
    [
        ("poolbias/weights/coupling.py", "1.0 + torch", "2.0 + torch", {"train"}),
        ("poolbias/losses/pairwise.py", "negatives - positive", "positive - negatives", {"train"}),
        ("poolbias/training/loop.py", "self.watch.look", "self.watch.gaze", {"train", "naive"}),
        ("poolbias/ranking.py", "np.isfinite", "np.isnan", {"evaluate", "figure", "rerank"}),
        ("poolbias/figures/figure_1.py", "import", "import os\nimport", {"figure"}),
        ("poolbias/weights/__init__.py", "return function", "return get", {"train", "naive"}),
        ("workflow/scripts/evaluate.py", "lacking, tied = 0", "lacking, tied = 1", {"evaluate"}),
        ("poolbias/evaluation/measures.py", "def evaluate", "def measure", {"evaluate", "figure"}),
        # what means the same
        (
            "poolbias/weights/coupling.py",
            "    positive, neg",
            "    # why\n    positive, neg",
            set(),
        ),
        ("poolbias/weights/coupling.py", '"""Return the weight', '"""Return a weight', set()),
        ("poolbias/stage.py", "starts, parameters", "begins, parameters", set()),
        (
            "poolbias/weights/__init__.py",
            "REGISTRY = {",
            'REGISTRY = {\n    "new": "poolbias.weights.new:new",',
            set(),
        ),
        ("poolbias/negatives/oracle.py", "~frame", "frame", set()),  # used by none of these
    ],
)
def test_what_changes_a_fingerprint(copy, file, old, new, expected):
    assert changed(copy, file, old, new) == expected


def test_another_choice_of_the_same_module_is_another_fingerprint():
    one, other = (
        fingerprint(ROOT, "train_ranker", [f"poolbias.weights.coupling:{name}"])
        for name in ("coupled", "FORMS")
    )
    assert one != other


def test_a_moved_or_touched_repository_has_the_same_fingerprints(copy, tmp_path):
    for path in copy.rglob("*.py"):
        path.touch()
    assert prints(copy) == prints(ROOT)
