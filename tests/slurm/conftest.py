"""A cluster for all tests of a file, and studies run locally to compare with."""

import pytest
from clusters import ROOT, Study, cluster


@pytest.fixture(scope="module")
def slurm():
    """A Slurm of two nodes without accounting."""
    cluster("start")
    yield
    cluster("stop")


@pytest.fixture(scope="module")
def accounting():
    """The same with accounting."""
    cluster("start", "accounting")
    yield
    cluster("stop")


@pytest.fixture(scope="session")
def reference(tmp_path_factory):
    """The study of the fault tests, finished by a local run."""
    configfile = ROOT / "tests" / "slurm" / "study.yaml"
    study = Study(tmp_path_factory.mktemp("reference") / "study", configfile)
    study.find_targets()
    assert len(study.targets) == 3
    study.finish(*study.targets)
    assert study.trained() == (3, 0)
    return study


@pytest.fixture
def study(reference, tmp_path):
    """A copy of it whose trainings are still to be done: six jobs."""
    copy = reference.copy(tmp_path / "study")
    yield copy
    copy.clean_up()
