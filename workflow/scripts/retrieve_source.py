"""Retrieve one official file: from the user's folder, or the first address that gives it.

The file lies in the folder `store` beside the output, which links to it: a job that runs again
checks it and downloads nothing. The variable POOLBIAS_SOURCES names the user's folder.
"""

import os
from pathlib import Path

from poolbias import stage
from poolbias.errors import ConfigError
from poolbias.fetching import link, retrieve
from poolbias.sources import parameters_of, read_sources


def main(job: stage.Job) -> None:
    path = job.path("file")
    source = read_sources(job.path("list")).get(path.name)
    needed = {name: job.parameters[name] for name in ("size", "hash")}
    if source is None or needed != {name: parameters_of(source)[name] for name in needed}:
        raise ConfigError(f"{job.path('list')}: says other things of {path.name} than {needed}.")
    folder = os.environ.get("POOLBIAS_SOURCES")
    kept = path.parent / "store" / path.name
    how = retrieve(source, kept, Path(folder) if folder else None)
    link(kept, path)
    job.report(how=how, bytes=path.stat().st_size, licence=source.licence)


if __name__ == "__main__":
    stage.run(main, str(__doc__), inputs=["list"], outputs=["file"])
