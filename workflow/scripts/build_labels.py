"""Pool the top of runs and label what is relevant there, or take a collection's judgements."""

import pandas as pd

from poolbias import pooling, stage
from poolbias.files import write_json
from poolbias.formats.trec import read_qrels, read_run, write_qrels
from poolbias.formats.tsv import read_table, write_table


def main(job: stage.Job) -> None:
    queries = read_table(job.path("queries"), ["query_id", "text", "split", "group", "kind"])
    truth = read_qrels(job.path("truth"))
    pooling.check_queries(queries, truth, str(job.path("truth")))
    if not job.paths("runs"):
        pool, labels = pooling.given(truth, queries, job.parameters["relevant_from"])
        finish(job, pool, labels, truth, queries)
        return
    runs = []
    for path in job.paths("runs"):
        runs.append(read_run(path))
        pooling.check_queries(queries, runs[-1], str(path))
    pool = pooling.pool(runs, job.parameters["depth"])
    labels = pooling.label(pool, truth, job.parameters["labels_per_query"], job.parameters["seed"])
    finish(job, pool, labels, truth, queries)


def finish(
    job: stage.Job,
    pool: pd.DataFrame,
    labels: pd.DataFrame,
    truth: pd.DataFrame,
    queries: pd.DataFrame,
) -> None:
    found = pooling.statistics(pool, labels[labels["grade"] >= 1], truth, queries)
    write_table(job.path("pool"), pool)
    write_qrels(job.path("labels"), labels)
    write_json(job.path("statistics"), found)
    job.report(**{name: value for name, value in found.items() if not isinstance(value, dict)})


if __name__ == "__main__":
    stage.run(
        main,
        str(__doc__),
        inputs=["truth", "queries", "runs*"],
        outputs=["labels", "pool", "statistics", "manifest?"],
    )
