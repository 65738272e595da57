"""Encode a collection's documents and queries with a published bi-encoder."""

from poolbias import stage
from poolbias.device import prepare
from poolbias.formats.tsv import read_table
from poolbias.models.minilm import MiniLM
from poolbias.models.pretrained import folder_of
from poolbias.retrieval.encode import encode
from poolbias.retrieval.search import write_vectors


def main(job: stage.Job) -> None:
    device = prepare(job.parameters["device"], job.parameters["threads"])
    model = MiniLM(folder_of(job.parameters["model"]), device)
    for name, column in (("queries", "query_id"), ("documents", "document_id")):
        texts = read_table(job.path(name), [column, "text"])["text"].tolist()
        vectors = encode(
            texts,
            model,
            precision=job.parameters["precision"],
            kept=job.unfinished(),
            name=name,
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
