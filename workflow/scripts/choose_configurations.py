"""Choose one setting of each method, by labels on the queries of dev."""

from pathlib import Path

import pandas as pd

from poolbias import stage
from poolbias.evaluation.configurations import choose
from poolbias.evaluation.listing import unpack
from poolbias.evaluation.per_query import read_queries, read_systems
from poolbias.formats.tsv import write_table


def main(job: stage.Job) -> None:
    queries = read_queries(job.paths("queries"), job.parameters["collections"])
    listed = unpack(job.parameters["systems"])
    paths = [Path(system["path"]) for system in listed]
    for path in paths:
        job.check(path)
    families = pd.DataFrame(job.parameters["families"])
    chosen = choose(read_systems(paths, listed, queries), families, job.parameters["measure"])
    write_table(job.path("table"), chosen, floats="%.6f")
    job.report(settings=len(chosen), chosen=int((chosen["chosen"] == "yes").sum()))


if __name__ == "__main__":
    stage.run(main, str(__doc__), inputs=["queries+"], outputs=["table", "manifest?"])
