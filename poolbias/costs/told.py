"""The costs of a study as a table: by table and figure, and all together."""

from collections.abc import Iterable, Mapping

from poolbias.config import experiments as naming
from poolbias.config.study import Study
from poolbias.costs.jobs import Job, depth_of, of_experiment
from poolbias.costs.throughput import Throughput
from poolbias.sources import Source
from poolbias.tables.rows import CET, NAIVE, TABLE_3

HEADING = ("for", "jobs", "device hours", "at most", "disk, GB", "memory of a job, GB")


def costs(study: Study, table: Throughput, official: Mapping[str, Source]) -> dict[str, list[Job]]:
    """Return the jobs that each table and figure needs, and `everything`, each job once."""
    rows = naming.rows(study)
    figures = study.figures

    def ranker(row: naming.Ranked) -> str:
        return study.rankers[row.experiment.ranker].shown or row.experiment.ranker

    def alike(row: naming.Ranked, other: naming.Ranked) -> bool:
        names = [(r.experiment.collection, r.experiment.pool, ranker(r)) for r in (row, other)]
        return names[0] == names[1]

    def deep(row: naming.Ranked) -> bool:
        return depth_of(study, row.experiment.collection) >= min(100, study.evaluation.depth)

    first = rows[0]
    reference = next((row for row in rows if row.method == CET), first)
    about = [row for row in rows if alike(row, reference)]
    fourth = [r for r in about if r.retriever == (figures.figure_4.retriever or r.retriever)]
    fifth = [r for r in about if r.retriever == (figures.figure_5.retriever or r.retriever)]
    chinese = [
        row
        for row in rows
        if study.collections[row.experiment.collection].kind == "dureader-retrieval"
    ] or [row for row in rows if ranker(row) == ranker(first)]
    chosen = {
        "table_1": [row for row in rows if ranker(row) == ranker(first)],
        "table_3": [row for row in chinese if row.method in TABLE_3],
        "table_4": [row for row in rows if row.method in (NAIVE, CET) and deep(row)],
        "figure_1": [row for row in rows if row.method == NAIVE and alike(row, first)],
        "figure_3": [row for row in rows if row.label in figures.figure_3.methods],
        "figure_4": [row for row in fourth if row.method in (NAIVE, CET, "rocketqa")],
        "figure_5": [row for row in fifth if row.label in figures.figure_5.methods],
        "everything": rows,
    }
    return {
        name: once(job for row in held for job in of_experiment(study, row, table, official))
        for name, held in chosen.items()
    }


def once(jobs: Iterable[Job]) -> list[Job]:
    """Return each job once, by its name."""
    return list({job.name: job for job in jobs}.values())


def told(study: Study, table: Throughput, official: Mapping[str, Source]) -> str:
    """Return the costs as lines of text for people."""
    rows = []
    for name, jobs in costs(study, table, official).items():
        hours = [sum(value) / table.flops / 3600 for value in _operations(jobs)]
        disk = sum(job.bytes for job in jobs) / 1e9
        memory = max((job.memory for job in jobs), default=0.0) / 1e9
        numbers = (f"{hours[0]:,.1f}", f"{hours[1]:,.1f}", f"{disk:,.1f}", f"{memory:,.1f}")
        rows.append((name, f"{len(jobs)}", *numbers))
    widths = [max(map(len, column)) for column in zip(HEADING, *rows, strict=True)]
    lines = [
        "  ".join(
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in (HEADING, *rows)
    ]
    how = "measured" if table.measured else "not measured: an assumption of config/throughput.yaml"
    return "\n".join(
        [
            f"Study {study.study} on {table.device}, {table.flops / 1e12:,.2f} TFLOP/s ({how}).",
            "Hours are of one such device; at most: if every sequence were as long as its limits.",
            "What tables share is counted in each, and once in `everything`. Searches, indexing",
            "and tokenising run on CPUs and are not in the hours (docs/scaling.md).",
            "",
            *lines,
            "",
            *_largest(once(costs(study, table, official)["everything"]), table),
            "",
        ]
    )


def _operations(jobs: Iterable[Job]) -> tuple[list[float], list[float]]:
    held = list(jobs)
    return [job.flops for job in held], [job.most_flops for job in held]


def _largest(jobs: list[Job], table: Throughput) -> list[str]:
    """Return lines that tell the jobs of most hours, and of most disk."""
    hours = sorted(jobs, key=lambda job: -job.flops)[:3]
    disk = sorted(jobs, key=lambda job: -job.bytes)[:3]
    return [
        "Most hours: "
        + "; ".join(f"{job.name} ({job.flops / table.flops / 3600:,.1f})" for job in hours),
        "Most disk: " + "; ".join(f"{job.name} ({job.bytes / 1e9:,.1f} GB)" for job in disk),
    ]
