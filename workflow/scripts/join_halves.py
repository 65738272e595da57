"""Join the rankings of two rankers, each for the half of the queries that it was not made with."""

from poolbias import stage
from poolbias.errors import ConfigError
from poolbias.filtering.rank_relevance import HALVES, join_halves
from poolbias.formats import read_run, write_run
from poolbias.formats.tsv import read_table
from poolbias.ranking import canonical


def main(job: stage.Job) -> None:
    paths = job.paths("rankings")
    if len(paths) != len(HALVES):
        raise ConfigError(
            f"rankings: found {len(paths)}, need {len(HALVES)}, those of the rankers made with the "
            "first and with the second half of the queries, in this order."
        )
    rankings = dict(zip(HALVES, map(read_run, paths), strict=True))
    queries = read_table(job.path("queries"), ["query_id", "group"])
    joined = canonical(join_halves(rankings, queries))
    write_run(job.path("ranking"), joined, tag=job.parameters["tag"])
    job.report(queries=joined["query_id"].nunique(), pairs=len(joined))


if __name__ == "__main__":
    stage.run(main, str(__doc__), inputs=["rankings+", "queries"], outputs=["ranking", "manifest"])
