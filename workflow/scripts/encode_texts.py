"""Encode a collection's documents and queries with the bi-encoder all-MiniLM-L6-v2."""

from poolbias import stage
from poolbias.formats.tsv import read_table
from poolbias.models.minilm import MiniLM
from poolbias.retrieval.encode import encode
from poolbias.retrieval.search import write_vectors


def main(job: stage.Job) -> None:
    model = MiniLM()
    for name, column in (("queries", "query_id"), ("documents", "document_id")):
        texts = read_table(job.path(name), [column, "text"])["text"].tolist()
        vectors = encode(
            texts,
            model,
            precision=job.parameters["precision"],
            threads=job.parameters["threads"],
        )
        write_vectors(job.path(f"{name}_vectors"), vectors)
        job.report(**{name: len(vectors)})


if __name__ == "__main__":
    stage.run(
        main,
        str(__doc__),
        inputs=["documents", "queries"],
        outputs=["documents_vectors", "queries_vectors", "manifest?"],
    )
