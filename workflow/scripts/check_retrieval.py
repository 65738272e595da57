"""Stop a study whose retriever does not reach what is expected of it."""

from poolbias import stage
from poolbias.evaluation.gate import check
from poolbias.files import write_json
from poolbias.formats import read_qrels, read_run
from poolbias.formats.tsv import read_table


def main(job: stage.Job) -> None:
    queries = read_table(job.path("queries"), ["query_id", "split"])
    chosen = queries.loc[queries["split"] == job.parameters["split"], "query_id"]
    qrels = read_qrels(job.path("judgements"))
    found = check(
        read_run(job.path("run")),
        qrels[qrels["query_id"].isin(chosen)],
        {name: job.parameters[name] for name in ("measure", "value", "tolerance")},
        f"{job.path('run')} by {job.path('judgements')}",
    )
    write_json(job.path("gate"), found)
    job.report(**found)


if __name__ == "__main__":
    stage.run(main, str(__doc__), inputs=["queries", "run", "judgements"], outputs=["gate"])
