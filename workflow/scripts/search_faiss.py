"""Retrieve each query's documents by an index of faiss, in one run per split."""

from poolbias import stage
from poolbias.formats.tsv import read_table
from poolbias.retrieval import runs
from poolbias.retrieval.approximate import search
from poolbias.retrieval.vectors import VectorFile


def main(job: stage.Job) -> None:
    queries = read_table(job.path("queries"), ["query_id", "text", "split"])
    ids = read_table(job.path("documents"), ["document_id"])["document_id"].tolist()
    rows, scores = search(
        VectorFile(job.path("queries_vectors"), len(queries))[:].astype("float32"),
        VectorFile(job.path("documents_vectors"), len(ids)),
        job.parameters["depth"],
        job.parameters["faiss"],
        runs.id_order(ids),
        job.parameters["threads"],
    )
    files = {name: job.path(name) for name in (*runs.SPLITS, "no_hits")}
    job.report(**runs.write_found(queries, ids, rows, scores, files, tag="faiss"))


if __name__ == "__main__":
    stage.run(
        main,
        str(__doc__),
        inputs=["queries", "documents", "queries_vectors", "documents_vectors"],
        outputs=["train", "dev", "test", "no_hits", "manifest"],
    )
