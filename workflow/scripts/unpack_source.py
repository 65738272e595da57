"""Unpack an official archive: plain files only, nothing outside the folder, no more than told."""

from poolbias import stage
from poolbias.unpacking import unpack


def main(job: stage.Job) -> None:
    names = unpack(job.path("archive"), job.path("folder"), job.parameters["most_bytes"])
    job.report(files=len(names))


if __name__ == "__main__":
    stage.run(main, str(__doc__), inputs=["archive"], outputs=["folder"])
