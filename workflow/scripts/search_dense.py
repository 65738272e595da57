"""Retrieve each query's best documents by the inner product of vectors, in one run per split."""

from poolbias import stage
from poolbias.device import prepare
from poolbias.formats.tsv import read_table
from poolbias.retrieval import runs
from poolbias.retrieval.search import MEMORY, search
from poolbias.retrieval.vectors import VectorFile


def main(job: stage.Job) -> None:
    prepare("cpu", job.parameters["threads"])
    queries = read_table(job.path("queries"), ["query_id", "text", "split"])
    ids = read_table(job.path("documents"), ["document_id"])["document_id"].tolist()
    rows, scores = search(
        VectorFile(job.path("queries_vectors"), len(queries))[:],
        VectorFile(job.path("documents_vectors"), len(ids)),
        depth=job.parameters["depth"],
        tie_order=runs.id_order(ids),
        memory=job.parameters.get("memory", MEMORY),
    )
    files = {name: job.path(name) for name in (*runs.SPLITS, "no_hits")}
    job.report(**runs.write_found(queries, ids, rows, scores, files, tag="dense"))


if __name__ == "__main__":
    stage.run(
        main,
        str(__doc__),
        inputs=["queries", "documents", "queries_vectors", "documents_vectors"],
        outputs=["train", "dev", "test", "no_hits", "manifest"],
    )
