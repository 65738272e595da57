"""Estimate how likely a document at each rank of a run is relevant, from judged queries."""

from poolbias import stage
from poolbias.filtering.rank_relevance import half_of, rank_relevance
from poolbias.formats import read_qrels, read_run
from poolbias.formats.tsv import read_table, write_table


def main(job: stage.Job) -> None:
    parameters = job.parameters
    queries = read_table(job.path("queries"), ["query_id", "split", "group"])
    queries = queries[queries["split"] == parameters["split"]]
    if "kinds" in parameters:  # the sets that are judged deeply
        queries = queries[queries["kind"].isin(parameters["kinds"])]
    if parameters["half"] is not None:
        queries = queries[queries["group"].map(half_of) == parameters["half"]]
    table = rank_relevance(
        read_run(job.path("run")),
        read_qrels(job.path("truth")),
        queries["query_id"],
        parameters["depth"],
    )
    write_table(job.path("relevance"), table)
    job.report(queries=int(table["queries"].max()), first=float(table["probability"].iloc[0]))


if __name__ == "__main__":
    stage.run(main, str(__doc__), inputs=["queries", "run", "truth"], outputs=["relevance"])
