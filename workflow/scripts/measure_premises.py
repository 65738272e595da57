"""Measure what CET takes for granted, for each probed query and on average."""

from poolbias import stage
from poolbias.evaluation import premises
from poolbias.formats.tsv import read_table, write_table
from poolbias.probe import read_probe


def main(job: stage.Job) -> None:
    probes = [
        (system, read_probe(path))
        for system, path in zip(job.parameters["systems"], job.paths("probes"), strict=True)
    ]
    values, probed = premises.measure(probes, job.parameters["depth"])
    queries = read_table(job.path("queries"), ["query_id", "group"])
    found = premises.summarise(values, probed, queries)
    write_table(job.path("per_query"), values)
    write_table(job.path("premises"), found, floats="%.6f")
    job.report(probes=len(probes), rows=len(found))


if __name__ == "__main__":
    stage.run(
        main,
        str(__doc__),
        inputs=["queries", "probes*"],
        outputs=["premises", "per_query", "manifest?"],
    )
