"""The smoke study finished by a local run, to compare with, and cuts of it to try faults on."""

import pytest
from clusters import ROOT, Cut, Study
from filelock import FileLock


@pytest.fixture(scope="session")
def smoke(tmp_path_factory, worker_id):
    """The folder of the finished smoke study: the repository, if it is there, else one for all."""
    folder = tmp_path_factory.getbasetemp()
    folder = folder if worker_id == "master" else folder.parent
    place = folder / "smoke.txt"
    with FileLock(folder / "smoke.lock"):
        if not place.exists():
            here = Study(ROOT)
            output = here.finish("--dry-run", output=folder / "dry-run.txt")
            if "Nothing to be done" not in output:
                here = Study(folder / "smoke")
                here.finish()
            place.write_text(str(here.folder))
    return Study(place.read_text()).folder


@pytest.fixture
def cut(smoke, tmp_path):
    """A maker of cuts of the smoke study, whose jobs are ended after the test."""
    made = []

    def make(*methods):
        made.append(Cut(tmp_path / "study", smoke, methods))
        return made[-1]

    yield make
    for study in made:
        study.clean_up()
