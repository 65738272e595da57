"""Decide which unlabelled documents of the training queries may be drawn as negatives."""

from poolbias import candidates, negatives, stage
from poolbias.files import write_json
from poolbias.formats import read_qrels, read_run
from poolbias.formats.tsv import read_table


def main(job: stage.Job) -> None:
    parameters = job.parameters
    queries = read_table(job.path("queries"), ["query_id", "split"])
    documents = read_table(job.path("documents"), ["document_id"])
    training = queries[queries["split"] == "train"]
    pools = candidates.unlabelled(
        run=read_run(job.path("run")),
        labels=read_qrels(job.path("labels")),
        truth=read_qrels(job.path("truth")),
        query_rows=dict(zip(training["query_id"], training.index, strict=True)),
        document_rows=dict(zip(documents["document_id"], documents.index, strict=True)),
        depth=parameters["depth"],
    )
    weights = negatives.get(parameters["name"])(pools.frame, parameters)
    table, figures = candidates.assemble(pools, weights)
    table.save(job.path("candidates"))
    write_json(job.path("statistics"), figures)
    job.report(**figures)


if __name__ == "__main__":
    stage.run(
        main,
        str(__doc__),
        inputs=["queries", "documents", "run", "labels", "truth"],
        outputs=["candidates", "statistics"],
    )
