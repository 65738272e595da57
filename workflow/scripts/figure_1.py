"""Draw Figure 1: the recall of each retriever beside the MRR of its own naive ranker."""

from pathlib import Path
from typing import Any

from poolbias import stage
from poolbias.errors import ConfigError, DataError
from poolbias.evaluation.false_negatives import read_shares
from poolbias.evaluation.measures import read_per_query
from poolbias.figures import style
from poolbias.figures.figure_1 import PerQuery, build_data, draw, read_data
from poolbias.formats.tsv import read_table, write_table


def read_all(job: stage.Job, name: str) -> list[PerQuery]:
    read = read_shares if name == "shares" else read_per_query
    told: list[dict[str, Any]] = job.parameters[name]
    files: list[Path] = job.paths(name)
    if len(told) != len(files):
        raise ConfigError(
            f"{name}: found {len(files)} files, parameters describe {len(told)}; "
            "describe each file, in the same order."
        )
    return [
        PerQuery(read(path), **about, origin=str(path))
        for path, about in zip(files, told, strict=True)
    ]


def main(job: stage.Job) -> None:
    stem = job.path("pdf").with_suffix("")
    paper = read_table(
        job.path("paper_tables"), ["place", "collection", "system", "measure", "value", "status"]
    )
    data = build_data(
        paper,
        read_table(job.path("queries"), ["query_id", "group"]),
        read_all(job, "recall"),
        read_all(job, "rankings"),
        read_all(job, "shares"),
        retrievers=job.parameters["retrievers"],
        collection=job.parameters["collection"],
        cut=job.parameters["cut"],
        measure=job.parameters["measure"],
    )
    write_table(job.path("table"), data)
    saved = style.save(draw(read_data(job.path("table"))), stem)
    if saved != [job.path(kind) for kind in ("pdf", "svg", "png")]:
        raise DataError(f"{stem}: pdf, svg and png need one name, found others; name them alike.")
    shown = data[(data["panel"] == "b") & (data["status"] == "mean")]
    job.report(retrievers=data.loc[data["panel"] == "a", "retriever"].nunique(), bars=len(shown))


if __name__ == "__main__":
    stage.run(
        main,
        str(__doc__),
        inputs=["paper_tables", "queries", "recall+", "rankings*", "shares*"],
        outputs=["pdf", "svg", "png", "table", "manifest?"],
    )
