"""Retrieve each query's best documents by BM25, in one run per split."""

from poolbias import stage
from poolbias.formats.tsv import read_table
from poolbias.retrieval import bm25, runs


def main(job: stage.Job) -> None:
    queries = read_table(job.path("queries"), ["query_id", "text", "split"])
    run, _ = bm25.search(
        job.path("index"),
        queries,
        k1=job.parameters["k1"],
        b=job.parameters["b"],
        depth=job.parameters["depth"],
        threads=job.parameters["threads"],
    )
    files = {name: job.path(name) for name in (*runs.SPLITS, "no_hits")}
    job.report(**runs.write_splits(run, queries, files, tag="bm25"))


if __name__ == "__main__":
    stage.run(
        main,
        str(__doc__),
        inputs=["queries", "index"],
        outputs=["train", "dev", "test", "no_hits", "manifest"],
    )
