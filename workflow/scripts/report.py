"""Make the report: one page that opens from disk, verdicts first, every number with its files."""

import json

from poolbias import stage
from poolbias.evaluation.listing import unpack
from poolbias.files import write_text
from poolbias.report.page import Contents, build


def main(job: stage.Job) -> None:
    parameters = job.parameters
    contents = Contents(
        study=parameters["study"],
        settings=json.loads(parameters["settings"]),  # text, since JSON here sorts keys
        systems=unpack(parameters["systems"]),
        marks=tuple(parameters["marks"]),
        claims=job.path("claims"),
        summary=job.path("summary"),
        drawings=job.paths("drawings"),
        figures=job.paths("figures"),
        tables=job.paths("tables"),
        manifests=job.paths("manifests"),
        differences=job.path("differences"),
    )
    html = build(contents, job.path("page"))
    with write_text(job.path("page")) as text:
        text.write(html)
    job.report(kilobytes=len(html.encode()) // 1000)


if __name__ == "__main__":
    stage.run(
        main,
        str(__doc__),
        inputs=[
            "claims",
            "summary",
            "drawings+",
            "figures+",
            "tables+",
            "manifests+",
            "differences",
        ],
        outputs=["page"],
    )
