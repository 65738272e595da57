"""Summarise per-query measures: means over queries and seeds, with intervals over groups."""

import pandas as pd

from poolbias import stage
from poolbias.evaluation.measures import read_per_query
from poolbias.evaluation.resampling import interval
from poolbias.formats.tsv import read_table, write_table

SYSTEM = ["experiment", "collection", "pool", "retriever", "method", "ranker", "judgements"]


def main(job: stage.Job) -> None:
    queries = read_table(job.path("queries"), ["query_id", "group"])
    frames = [
        read_per_query(path).assign(**about)
        for path, about in zip(job.paths("per_query"), job.parameters["rows"], strict=True)
    ]
    frame = pd.concat(frames).merge(queries[["query_id", "group"]], on="query_id", how="left")
    rows = []
    for names, part in frame.groupby([*SYSTEM, "measure"], sort=False):
        over_seeds = part.groupby(["query_id", "group"], as_index=False)["value"].mean()
        mean, low, high, count, groups = interval(over_seeds)
        row = dict(zip([*SYSTEM, "measure"], names, strict=True))
        numbers = {"mean": mean, "low": low, "high": high}
        row |= numbers | {"queries": count, "groups": groups, "seeds": part["seed"].nunique()}
        rows.append(row)
    write_table(job.path("summary"), pd.DataFrame(rows), floats="%.6f")
    job.report(rankings=len(frames), rows=len(rows))


if __name__ == "__main__":
    stage.run(main, str(__doc__), inputs=["queries", "per_query+"], outputs=["summary"])
