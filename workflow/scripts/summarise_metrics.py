"""Summarise per-query measures: means over queries and seeds, with intervals over groups."""

from pathlib import Path

import pandas as pd

from poolbias import stage
from poolbias.evaluation.listing import unpack
from poolbias.evaluation.measures import read_per_query
from poolbias.evaluation.summary import summarise_systems
from poolbias.formats.tsv import read_table, write_table


def main(job: stage.Job) -> None:
    collections = zip(job.parameters["collections"], job.paths("queries"), strict=True)
    systems = [(Path(system.pop("path")), system) for system in unpack(job.parameters["systems"])]
    for path, _ in systems:
        job.check(path)
    summary = summarise_systems(
        pd.concat([read_per_query(path).assign(**system) for path, system in systems]),
        pd.concat(
            [
                read_table(path, ["query_id", "group"]).assign(collection=collection)
                for collection, path in collections
            ]
        ),
    )
    write_table(job.path("summary"), summary, floats="%.6f")
    job.report(rankings=len(systems), rows=len(summary))


if __name__ == "__main__":
    stage.run(main, str(__doc__), inputs=["queries+"], outputs=["summary", "manifest?"])
