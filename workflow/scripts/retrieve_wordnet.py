"""Retrieve the nouns of WordNet from the official archive."""

from pathlib import Path

from poolbias import stage
from poolbias.fetching import retrieve
from poolbias.sources import Source
from poolbias.unpacking import extract


def main(job: stage.Job) -> None:
    given = job.parameters
    name = Path(given["url"]).name
    archive = job.path("data").parent.parent / name
    source = Source(name, (given["url"],), given["size"], "sha256", given["sha256"], "WordNet 3.0")
    how = retrieve(source, archive)
    extract(archive, {member: job.path(name) for name, member in given["members"].items()})
    job.report(archive=str(archive), how=how)


if __name__ == "__main__":
    stage.run(main, str(__doc__), inputs=[], outputs=["data", "index"])
