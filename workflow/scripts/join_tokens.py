"""Join the shards of a large collection's tokens, and tokenise its queries."""

from poolbias import stage, token_shards
from poolbias.models.pretrained import tokenizer_of
from poolbias.tokens import read_tokenizer


def main(job: stage.Job) -> None:
    tokenizer = read_tokenizer(tokenizer_of(job.parameters["start"]))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    parts, queries = job.paths("shards"), job.path("queries")
    job.report(**token_shards.join(parts, queries, tokenizer, job.path("tokens")))


if __name__ == "__main__":
    stage.run(main, str(__doc__), inputs=["queries", "shards+"], outputs=["tokens"])
