"""Tokenise one part of a large collection's documents."""

from poolbias import stage, token_shards
from poolbias.models.pretrained import tokenizer_of
from poolbias.tokens import read_tokenizer


def main(job: stage.Job) -> None:
    given = job.parameters
    tokenizer = read_tokenizer(tokenizer_of(given["start"]))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    job.report(
        **token_shards.build_shard(
            job.path("documents"), given["number"], given["shards"], tokenizer, job.path("shard")
        )
    )


if __name__ == "__main__":
    stage.run(main, str(__doc__), inputs=["documents"], outputs=["shard"])
