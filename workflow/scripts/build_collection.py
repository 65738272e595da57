"""Build one collection: documents, what annotators search, queries, complete truth, statistics."""

from poolbias import collections, stage
from poolbias.collections.given import cut_of, write
from poolbias.files import write_json
from poolbias.formats.trec import write_qrels
from poolbias.formats.tsv import write_table


def main(job: stage.Job) -> None:
    parameters = {name: value for name, value in job.parameters.items() if name != "kind"}
    collection = collections.build(job.parameters["kind"], parameters, job.files.get("sources", []))
    if isinstance(collection, collections.Given):  # documents as a stream, however many
        names = ("documents", "pool_documents", "queries", "truth", "statistics")
        write(collection, cut_of(parameters), {name: job.path(name) for name in names})
        found = collection.statistics
        job.report(**{name: found[name] for name in ("documents", "queries", "judged_relevant")})
        return
    write_table(job.path("documents"), collection.documents)
    write_table(job.path("pool_documents"), collection.pool_documents)
    write_table(job.path("queries"), collection.queries)
    write_qrels(job.path("truth"), collection.truth)
    write_json(job.path("statistics"), collection.statistics)
    job.report(
        documents=len(collection.documents),
        queries=len(collection.queries),
        relevant=len(collection.truth),
    )


if __name__ == "__main__":
    stage.run(
        main,
        str(__doc__),
        inputs=["sources*"],
        outputs=["documents", "pool_documents", "queries", "truth", "statistics", "manifest?"],
    )
