"""Draw Figure 3: rankers trained with and without CET, retriever by retriever."""

from poolbias import stage
from poolbias.evaluation.per_query import read_queries, read_systems
from poolbias.figures import style
from poolbias.figures.figure_3 import build_data, draw, read_data
from poolbias.formats.tsv import read_table, write_table


def main(job: stage.Job) -> None:
    parameters = job.parameters
    queries = read_queries(job.paths("queries"), parameters["collections"])
    data = build_data(
        read_table(job.path("paper_tables"), ["place"]),
        read_systems(job.paths("per_query"), parameters["systems"], queries),
        collections=parameters["collections"],
        retrievers=parameters["retrievers"],
        methods=parameters["methods"],
        measures={"truth": parameters["by_truth"], "labels": parameters["by_labels"]},
    )
    write_table(job.path("table"), data)
    figure = draw(read_data(job.path("table")))
    style.save_as(figure, job.path("pdf"), job.path("svg"), job.path("png"))
    job.report(bars=int((data["status"] == "mean").sum()))


if __name__ == "__main__":
    stage.run(
        main,
        str(__doc__),
        inputs=["paper_tables", "queries+", "per_query*"],
        outputs=["pdf", "svg", "png", "table", "manifest?"],
    )
