"""Retrieve the nouns of WordNet from the official archive."""

from pathlib import Path

from poolbias import stage
from poolbias.download import extract, fetch


def main(job: stage.Job) -> None:
    given = job.parameters
    archive = job.path("data").parent.parent / Path(given["url"]).name
    fetched = fetch(given["url"], archive, given["size"], given["sha256"])
    extract(archive, {member: job.path(name) for name, member in given["members"].items()})
    job.report(archive=str(archive), fetched=fetched)


if __name__ == "__main__":
    stage.run(main, str(__doc__), inputs=[], outputs=["data", "index"])
