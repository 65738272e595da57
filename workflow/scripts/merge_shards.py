"""Merge what the searches of a collection's parts found, into one run per split."""

import numpy as np

from poolbias import stage
from poolbias.formats.tsv import read_table
from poolbias.retrieval import runs
from poolbias.retrieval.best import merge


def main(job: stage.Job) -> None:
    queries = read_table(job.path("queries"), ["query_id", "text", "split"])
    ids = read_table(job.path("documents"), ["document_id"])["document_id"].tolist()
    parts = [
        (np.load(rows, allow_pickle=False), np.load(scores, allow_pickle=False))
        for rows, scores in zip(job.paths("rows"), job.paths("scores"), strict=True)
    ]
    rows, scores = merge(parts, job.parameters["depth"], runs.id_order(ids))
    files = {name: job.path(name) for name in (*runs.SPLITS, "no_hits")}
    job.report(**runs.write_found(queries, ids, rows, scores, files, tag="dense"))


if __name__ == "__main__":
    stage.run(
        main,
        str(__doc__),
        inputs=["queries", "documents", "rows+", "scores+"],
        outputs=["train", "dev", "test", "no_hits", "manifest"],
    )
