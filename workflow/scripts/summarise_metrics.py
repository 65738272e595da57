"""Summarise per-query measures: means over queries and seeds, with intervals over groups."""

import pandas as pd

from poolbias import stage
from poolbias.evaluation.measures import read_per_query
from poolbias.evaluation.summary import summarise_systems
from poolbias.formats.tsv import read_table, write_table


def main(job: stage.Job) -> None:
    collections = zip(job.parameters["collections"], job.paths("queries"), strict=True)
    systems = zip(job.parameters["systems"], job.paths("per_query"), strict=True)
    summary = summarise_systems(
        pd.concat([read_per_query(path).assign(**system) for system, path in systems]),
        pd.concat(
            [
                read_table(path, ["query_id", "group"]).assign(collection=collection)
                for collection, path in collections
            ]
        ),
    )
    write_table(job.path("summary"), summary, floats="%.6f")
    job.report(rankings=len(job.paths("per_query")), rows=len(summary))


if __name__ == "__main__":
    stage.run(
        main, str(__doc__), inputs=["queries+", "per_query+"], outputs=["summary", "manifest?"]
    )
