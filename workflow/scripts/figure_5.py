"""Draw Figure 5: the weights of coupled trainings against relevance."""

from poolbias import stage
from poolbias.evaluation.premises import read_premises
from poolbias.figures import style
from poolbias.figures.figure_5 import Coupled, build_data, draw, read_data, read_training
from poolbias.formats.tsv import read_table, write_table
from poolbias.probe import read_probe


def main(job: stage.Job) -> None:
    parameters = job.parameters
    queries = read_table(job.path("queries"), ["query_id", "text"])
    files = zip(parameters["systems"], job.paths("probes"), job.paths("trainings"), strict=True)
    data = build_data(
        read_premises(job.path("premises")),
        [
            Coupled(system["method"], system["seed"], read_probe(probe), read_training(training))
            for system, probe, training in files
        ],
        dict(zip(queries["query_id"], queries["text"], strict=True)),
        read_table(job.path("paper_tables"), ["place"]),
        methods=parameters["methods"],
        depth=parameters["depth"],
        query=parameters["query"],
    )
    write_table(job.path("table"), data)
    figure = draw(read_data(job.path("table")))
    style.save_as(figure, job.path("pdf"), job.path("svg"), job.path("png"))
    job.report(probes=len(parameters["systems"]))


if __name__ == "__main__":
    stage.run(
        main,
        str(__doc__),
        inputs=["paper_tables", "premises", "queries", "probes*", "trainings*"],
        outputs=["pdf", "svg", "png", "table", "manifest?"],
    )
