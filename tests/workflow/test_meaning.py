"""Reruns by meaning: real sources are edited in a copy, one case each, and job lists compared.

Each list is asked for twice: as a user does at home, and with the Slurm profile.
"""

import re
import shutil
import subprocess
import sys
import venv

import pytest
from conftest import ROOT, Workflow
from pages import copy_repository

# Rules that work; what else there is brings their results together for people.
WORK = {
    *("build_collection", "build_index", "build_tokens", "build_labels", "build_candidates"),
    *("encode_texts", "search_bm25", "search_dense", "score_candidates", "probe_weights"),
    *("train_ranker", "train_coupled_ranker", "rerank", "evaluate", "count_false_negatives"),
}
PROFILES = [(), ("--profile", "slurm")]
COUPLED = r"\.cet"  # what experiments with a coupled weight are called
LOSS = "poolbias/losses/pairwise.py"


class Copy(Workflow):
    """A copy of the repository whose results are those of the finished smoke study."""

    def edit(self, file, old, new):
        path = self.root / file
        text, count = re.subn(old, new, path.read_text(), count=1)
        assert count == 1, f"{file} holds no {old}"
        path.write_text(text)

    def study(self):
        return self.root / "config" / "smoke.yaml"

    def work(self, *arguments):
        """Return how many jobs of each rule that works would run, and the rankers trained."""
        jobs = self.jobs(*arguments, configfile=self.study())
        output = self.run(*arguments, "--dry-run", configfile=self.study())
        trained = set(re.findall(r"Job \d+: Train (\S+), seed", output))
        return {rule: jobs[rule] for rule in jobs if rule in WORK}, trained

    def drawn(self, *arguments):
        """Return the figures and tables that would be made."""
        jobs = self.jobs(*arguments, configfile=self.study())
        return {rule for rule in jobs if rule.startswith(("figure_", "table_"))}


@pytest.fixture
def copy(smoke, tmp_path):
    return Copy(smoke.folder, root=copy_repository(tmp_path / "copy"))


@pytest.fixture
def everything(smoke):
    """The rankers of the study."""
    return {path.name for path in (smoke.folder / "results" / "rankers").iterdir()}


@pytest.mark.parametrize("profile", PROFILES)
def test_a_changed_loss_trains_the_rankers_that_use_it(copy, everything, profile):
    copy.edit(LOSS, "negatives - positive", "2 * negatives - positive")
    jobs, trained = copy.work(*profile)
    others = {name for name in everything if re.search(r"\.(cet_listwise|dml)", name)}
    assert others  # whose loss is another one
    assert trained == everything - others
    assert jobs["train_ranker"] + jobs["train_coupled_ranker"] == len(trained)
    assert jobs["rerank"] >= len(trained)
    assert not {"build_collection", "search_bm25", "encode_texts", "build_tokens"} & set(jobs)


@pytest.mark.parametrize("profile", PROFILES)
def test_a_changed_weight_trains_coupled_rankers_alone(copy, everything, profile):
    copy.edit("poolbias/weights/coupling.py", r"return 1\.0 \+", "return 1.5 +")
    jobs, trained = copy.work(*profile)
    assert trained == {name for name in everything if re.search(COUPLED, name)}
    assert "train_ranker" not in jobs
    assert "build_candidates" not in jobs


@pytest.mark.parametrize("profile", PROFILES)
def test_changed_negatives_choose_and_train_for_their_methods_alone(copy, everything, profile):
    copy.edit("poolbias/negatives/oracle.py", r"~frame", "frame")
    jobs, trained = copy.work(*profile)
    assert trained == {name for name in everything if ".oracle." in name}
    assert jobs["build_candidates"] == 1
    assert jobs["train_ranker"] == 1


@pytest.mark.parametrize("profile", PROFILES)
def test_a_changed_plot_redraws_one_figure(copy, profile):
    copy.edit("poolbias/figures/figure_1.py", r"\Z", "\nWIDTH = 3\n")
    jobs, trained = copy.work(*profile)
    assert (jobs, trained) == ({}, set())
    assert copy.drawn(*profile) == {"figure_1"}


@pytest.mark.parametrize("profile", PROFILES)
def test_a_comment_in_every_source_reruns_nothing(copy, profile):
    for path in [*copy.root.glob("poolbias/**/*.py"), *copy.root.glob("workflow/**/*.py")]:
        path.write_text("# A comment.\n" + path.read_text() + "\n\n# The end.\n")
    copy.edit(LOSS, '"""The pairwise', '"""A pairwise')
    copy.edit(
        "poolbias/training/loop.py", '        """Train, yielding', '        """Train and yield'
    )
    for path in copy.root.glob("rules/*.smk"):
        path.write_text(
            re.sub(r"\n    message:\n", "\n    # told\n    message:\n", path.read_text())
        )
    assert copy.jobs(*profile, configfile=copy.study()) == {}


@pytest.mark.parametrize("profile", PROFILES)
def test_touched_sources_rerun_nothing(copy, profile):
    for path in copy.root.rglob("*"):
        path.touch()
    assert copy.jobs(*profile, configfile=copy.study()) == {}


@pytest.mark.parametrize("profile", PROFILES)
def test_another_virtual_environment_reruns_nothing(copy, tmp_path, monkeypatch, profile):
    venv.create(tmp_path / "other", with_pip=False, symlinks=True)
    python = tmp_path / "other" / "bin" / "python"
    packages = next((tmp_path / "other").glob("lib/python*/site-packages"))
    ours = [path for path in sys.path if path.endswith("site-packages")]
    (packages / "ours.pth").write_text("\n".join(ours))
    monkeypatch.setattr(sys, "executable", str(python))
    assert copy.jobs(*profile, configfile=copy.study()) == {}
    copy.edit(LOSS, "negatives - positive", "2 * negatives - positive")
    assert copy.work(*profile)[1]  # it is not blind


def git(root, *words):
    name = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *name, "-C", str(root), *words], check=True, capture_output=True)


def test_another_branch_and_back_reruns_nothing(copy):
    git(copy.root, "init", "--initial-branch", "main")
    git(copy.root, "add", "--all")
    git(copy.root, "commit", "-m", "a")
    git(copy.root, "switch", "--create", "other")
    copy.edit(LOSS, "negatives - positive", "2 * negatives - positive")
    git(copy.root, "commit", "--all", "-m", "b")
    assert copy.work()[1]
    git(copy.root, "switch", "main")
    assert copy.jobs(configfile=copy.study()) == {}


def test_a_fresh_clone_with_the_results_brought_along_reruns_nothing(smoke, copy, tmp_path):
    git(copy.root, "init", "--initial-branch", "main")
    git(copy.root, "add", "--all")
    git(copy.root, "commit", "-m", "a")
    clone = tmp_path / "clone"
    git(tmp_path, "clone", str(copy.root), str(clone))
    shutil.rmtree(clone / "results")
    subprocess.run(["cp", "-al", smoke.folder / "results", clone / "results"], check=True)
    fresh = Copy(clone, root=clone)  # no .snakemake: nothing is known but the files
    assert fresh.jobs(configfile=fresh.study()) == {}
    # and of what Snakemake does not know a ranker's own record tells
    assert "made by other code" not in fresh.run("--dry-run", configfile=fresh.study())
    fresh.edit("poolbias/weights/coupling.py", r"return 1\.0 \+", "return 1.5 +")
    assert "made by other code" in fresh.run("--dry-run", configfile=fresh.study())


@pytest.mark.parametrize("profile", PROFILES)
def test_a_renamed_folder_of_results_and_sources_reruns_nothing(smoke, tmp_path, profile):
    folder = copy_repository(tmp_path / "before", smoke)
    moved = folder.rename(tmp_path / "after")
    copy = Copy(moved, root=moved)
    assert copy.jobs(*profile, configfile=copy.study()) == {}


def test_why_tells_what_a_dry_run_tells(smoke, copy):
    result = next(smoke.folder.glob("results/rankings/*.cet-paper-tau1.*/seed-1/*/*/test.run.gz"))
    name = str(result.relative_to(smoke.folder))

    def why():
        done = subprocess.run(
            [sys.executable, "-m", "poolbias", "why", name, "--configfile", copy.study()],
            cwd=smoke.folder,
            env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(copy.root)},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.partition("made again for")[2].strip()

    assert why() == "nothing: it is what the study asks for"
    copy.edit("poolbias/weights/coupling.py", r"return 1\.0 \+", "return 1.5 +")
    assert re.fullmatch(r"first: Train \S+\.cet-paper-tau1\.\S+, seed 1.*", why())
    copy.edit("poolbias/scoring.py", "ranker.eval", "ranker.train")
    assert why().startswith("poolbias.scoring changed\n")


def test_the_profiles_add_no_trigger():
    for profile in ("profiles/default", "slurm"):
        text = (ROOT / profile / "config.yaml").read_text()
        triggers = re.findall(r"^rerun-triggers: (.+)$", text, re.MULTILINE)
        assert triggers == (["[mtime, params, input, software-env]"] * (profile != "slurm"))
