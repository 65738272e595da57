"""Evaluate rankings against one set of judgements, on the queries of one split."""

from poolbias import stage
from poolbias.errors import ConfigError, DataError
from poolbias.evaluation import evaluate, missing, summarise, ties
from poolbias.formats import read_qrels, read_run
from poolbias.formats.tsv import read_table, write_table


def main(job: stage.Job) -> None:
    measures, split = job.parameters["measures"], job.parameters["split"]
    runs, outputs = job.paths("runs"), job.paths("per_query")
    if len(runs) != len(outputs):
        raise ConfigError(
            f"found {len(runs)} runs and {len(outputs)} per-query files, need as many of both; "
            "give one output per run, in the same order."
        )
    queries = read_table(job.path("queries"), ["query_id", "split"])
    if "kind" in job.parameters:  # one of several test sets
        queries = queries[queries["kind"] == job.parameters["kind"]]
    chosen = set(queries.loc[queries["split"] == split, "query_id"])
    qrels = read_qrels(job.path("judgements"))
    qrels = qrels[qrels["query_id"].isin(chosen)]
    if qrels.empty:
        raise DataError(
            f"{job.path('judgements')}: no query of split {split!r} is judged (splits of "
            f"{job.path('queries')}: {', '.join(sorted(set(queries['split'])))}); correct either."
        )
    lacking, tied = 0, 0.0
    for path, output in zip(runs, outputs, strict=True):
        run = read_run(path)
        try:
            per_query = evaluate(run, qrels, measures)
        except DataError as error:
            raise DataError(f"{path}: {error}") from error
        lacking, tied = max(lacking, len(missing(run, qrels))), max(tied, ties(run))
        means = summarise(per_query)
        told = ", ".join(
            f"{m} {v:.4f}" for m, v in zip(means["measure"], means["mean"], strict=True)
        )
        stage.log.info("%s by %s: %s", path, job.path("judgements").name, told)
        write_table(output, per_query)
    job.report(runs=len(runs), queries=qrels["query_id"].nunique(), most_missing=lacking)
    job.report(highest_share_of_ties=tied)


if __name__ == "__main__":
    stage.run(main, str(__doc__), inputs=["queries", "judgements", "runs+"], outputs=["per_query+"])
