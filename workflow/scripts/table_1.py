"""Make Table 1: methods by labels and by truth, CET tested against DML and RANCE."""

from pathlib import Path

from poolbias import stage
from poolbias.evaluation.listing import unpack
from poolbias.tables import pages
from poolbias.tables.table_1 import table_1


def main(job: stage.Job) -> None:
    systems = unpack(job.parameters["systems"])
    for system in systems:
        job.check(Path(system["path"]))
    source = pages.read(job.parameters, systems, job.paths("queries"), job.path("paper_tables"))
    page = table_1(source)
    pages.write(page, job.path("markdown"), job.path("latex"), job.path("table"))
    job.report(files=len(systems), rows=len(page.data))


if __name__ == "__main__":
    stage.run(
        main,
        str(__doc__),
        inputs=["paper_tables", "queries+"],
        outputs=["markdown", "latex", "table", "manifest?"],
    )
