"""Encode a collection's documents and queries with a bi-encoder, published or trained here."""

from poolbias import stage
from poolbias.device import prepare
from poolbias.formats.tsv import read_table
from poolbias.models.biencoder_files import load, load_published
from poolbias.models.minilm import minilm
from poolbias.models.pretrained import folder_of
from poolbias.retrieval.encode import encode
from poolbias.retrieval.vectors import write_vectors


def main(job: stage.Job) -> None:
    device = prepare(job.parameters["device"], job.parameters["threads"])
    parameters = job.parameters
    if "architecture" in parameters:
        limits = (parameters["query_tokens"], parameters["document_tokens"])
        given = (parameters["architecture"], limits, parameters["lower_case"])
        model = load_published(job.path("model").parent, *given).to(device)
    elif "model" in job.files:
        model = load(job.path("model").parent).to(device)
    else:
        model = minilm(folder_of(job.parameters["model"]), device)
    for name, column in (("queries", "query_id"), ("documents", "document_id")):
        texts = read_table(job.path(name), [column, "text"])["text"].tolist()
        vectors = encode(
            texts,
            model,
            "query" if name == "queries" else "document",
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
        inputs=["documents", "queries", "model?"],
        outputs=["documents_vectors", "queries_vectors", "manifest?"],
    )
