"""Draw Figure 4: a measure over CET's τ and over RocketQA's η."""

import pandas as pd

from poolbias import stage
from poolbias.evaluation.per_query import read_queries, read_systems
from poolbias.figures import style
from poolbias.figures.figure_4 import build_data, draw, read_data
from poolbias.formats.tsv import read_table, write_table


def main(job: stage.Job) -> None:
    parameters = job.parameters
    queries = read_queries(job.paths("queries"), [parameters["collection"]])
    data = build_data(
        read_table(job.path("paper_tables"), ["place", "system"]),
        read_systems(job.paths("per_query"), parameters["systems"], queries),
        pd.DataFrame(parameters["points"], columns=["experiment", "series", "option", "x"]),
        measure=parameters["measure"],
    )
    write_table(job.path("table"), data)
    figure = draw(read_data(job.path("table")))
    style.save_as(figure, job.path("pdf"), job.path("svg"), job.path("png"))
    job.report(points=len(parameters["points"]))


if __name__ == "__main__":
    stage.run(
        main,
        str(__doc__),
        inputs=["paper_tables", "queries", "per_query*"],
        outputs=["pdf", "svg", "png", "table", "manifest?"],
    )
