"""Take up the runs of a retriever that ran elsewhere, in one run per split."""

from poolbias import stage
from poolbias.formats.tsv import read_table
from poolbias.retrieval import runs
from poolbias.retrieval.external import read_id_map, take_up


def main(job: stage.Job) -> None:
    queries = read_table(job.path("queries"), ["query_id", "text", "split"])
    maps = {
        name: read_id_map(job.path(name)) if name in job.files else None
        for name in ("query_map", "document_map")
    }
    run, figures = take_up(
        job.paths("runs"),
        queries,
        read_table(job.path("documents"), ["document_id"])["document_id"],
        depth=job.parameters["depth"],
        coverage=job.parameters["coverage"],
        **maps,
    )
    files = {name: job.path(name) for name in (*runs.SPLITS, "no_hits")}
    job.report(**runs.write_splits(run, queries, files, tag="run"), **figures)


if __name__ == "__main__":
    stage.run(
        main,
        str(__doc__),
        inputs=["queries", "documents", "runs+", "query_map?", "document_map?"],
        outputs=["train", "dev", "test", "no_hits", "manifest"],
    )
