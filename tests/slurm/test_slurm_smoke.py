"""The smoke study through Slurm, against a local run."""

import pytest
from clusters import HURRY, ROOT, Study, digests, ended, tool

SMOKE = ROOT / "config" / "smoke.yaml"


@pytest.fixture
def local(tmp_path):
    """The smoke study finished by a local run: the one in the repository, if it is there."""
    here = Study(ROOT, SMOKE)
    if "Nothing to be done" in here.finish("--dry-run", output=tmp_path / "dry-run.txt"):
        return here
    study = Study(tmp_path / "local", SMOKE)
    study.finish()
    return study


@pytest.mark.usefixtures("slurm")
def test_the_smoke_study_makes_the_bytes_of_a_local_run(local, tmp_path):
    study = Study(tmp_path / "study", SMOKE)
    study.finish(*HURRY)
    made, expected = digests(study.folder), digests(local.folder)
    assert made == {name: digest for name, digest in expected.items() if name in made}
    assert {name.split("/")[1] for name in made} >= {
        *("collections", "runs", "candidates", "rankers", "rankings", "metrics", "smoke")
    }
    assert set(ended()) == {"COMPLETED"}
    jobs = read_rules(study)
    assert jobs["rule_train_ranker"] >= 3
    assert "rule_figure_1" not in jobs  # on the machine that submits
    measured = len(list((study.folder / "results" / "logs" / "evaluate").rglob("*.log")))
    groups = sum(count for rule, count in jobs.items() if rule.startswith("group_measures"))
    assert 1 <= groups <= measured // 4
    assert "Nothing to be done" in study.finish("--dry-run")
    assert not tool("squeue", "--noheader").strip()


def read_rules(study):
    """Return how many logs Slurm wrote for each rule or group."""
    folder = study.folder / "results" / "logs" / "slurm"
    return {path.name: len(list(path.rglob("*.log"))) for path in folder.iterdir()}
