"""Make the table of filters: what each choice of negatives keeps, and what it finds."""

from poolbias import stage
from poolbias.errors import ConfigError
from poolbias.evaluation.per_query import read_queries
from poolbias.filtering.counts import read_counts
from poolbias.tables import pages
from poolbias.tables.table_filters import filters_of, table_filters


def main(job: stage.Job) -> None:
    parameters = job.parameters
    told, paths = parameters["filters"], job.paths("counts")
    if len(told) != len(paths):
        raise ConfigError(
            f"counts: found {len(paths)} files, parameters describe {len(told)}; describe each "
            "file, in the same order."
        )
    queries = read_queries(job.paths("queries"), parameters["collections"])
    found = filters_of(told, [read_counts(path) for path in paths], queries)
    own = {name: parameters[name] for name in ("study", "lexical", "reason")}
    page = table_filters(found, **own)
    pages.write(page, job.path("markdown"), job.path("latex"), job.path("table"))
    job.report(filters=len(found), rows=len(page.data))


if __name__ == "__main__":
    stage.run(
        main,
        str(__doc__),
        inputs=["queries+", "counts+"],
        outputs=["markdown", "latex", "table", "manifest?"],
    )
