"""Tokenise every query and document of a collection once, into memory-mapped arrays."""

from poolbias import stage, tokens
from poolbias.formats.tsv import read_table
from poolbias.models.pretrained import tokenizer_of


def main(job: stage.Job) -> None:
    documents = read_table(job.path("documents"), ["document_id", "text"])
    queries = read_table(job.path("queries"), ["query_id", "text"])
    tokenizer = tokenizer_of(job.parameters["start"])
    figures = tokens.build(
        documents["text"].tolist(), queries["text"].tolist(), tokenizer, job.path("tokens")
    )
    job.report(**figures)


if __name__ == "__main__":
    stage.run(main, str(__doc__), inputs=["documents", "queries"], outputs=["tokens"])
