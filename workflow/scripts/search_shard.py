"""Retrieve each query's best documents within one part of a collection, by inner product."""

from poolbias import stage
from poolbias.device import prepare
from poolbias.formats.tsv import read_table
from poolbias.retrieval import runs
from poolbias.retrieval.search import MEMORY, search
from poolbias.retrieval.vectors import VectorFile, part_of, write_vectors


def main(job: stage.Job) -> None:
    prepare("cpu", job.parameters["threads"])
    queries = read_table(job.path("queries"), ["query_id"])
    documents = read_table(job.path("documents"), ["document_id"])
    part = part_of(len(documents), job.parameters["shard"], job.parameters["shards"])
    rows, scores = search(
        VectorFile(job.path("queries_vectors"), len(queries))[:],
        VectorFile(job.path("documents_vectors"), len(documents), part),
        depth=job.parameters["depth"],
        tie_order=runs.id_order(documents["document_id"].tolist())[part],
        memory=job.parameters.get("memory", MEMORY),
    )
    write_vectors(job.path("rows"), rows + part.start)
    write_vectors(job.path("scores"), scores)
    job.report(queries=len(rows), documents=part.stop - part.start)


if __name__ == "__main__":
    stage.run(
        main,
        str(__doc__),
        inputs=["queries", "documents", "queries_vectors", "documents_vectors"],
        outputs=["rows", "scores"],
    )
