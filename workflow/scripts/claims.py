"""Hold the study against the claims: a number, an interval and a verdict each."""

from pathlib import Path

from poolbias import stage
from poolbias.claims.build import Sources, build
from poolbias.claims.render import counts, markdown
from poolbias.claims.systems import Store
from poolbias.evaluation.listing import unpack
from poolbias.evaluation.per_query import read_queries
from poolbias.files import write_text
from poolbias.formats.tsv import read_table, write_table


def main(job: stage.Job) -> None:
    parameters = job.parameters
    systems = unpack(parameters["systems"])
    paths = [Path(system.pop("path")) for system in systems]
    for path in paths:
        job.check(path)
    store = Store(
        paths,
        systems,
        read_queries(job.paths("queries"), parameters["collections"]),
        recall=parameters["recall"],
        changed=parameters["changed"],
        pools=parameters["pools"],
        chosen=parameters["chosen"],
    )
    tables = {path.stem: read_table(path, ["low", "high"]) for path in job.paths("tables")}
    paper = read_table(job.path("paper_tables"), ["collection", "system", "measure", "value"])
    claims = {claim["id"]: claim for claim in parameters["claims"]}  # JSON sorts keys, not lists
    frame = build(claims, Sources(store, paper, tables, parameters["about"]))
    write_table(job.path("table"), frame, floats="%.6g")
    with write_text(job.path("markdown")) as text:
        text.write(markdown(frame, parameters["study"]) + "\n")
    found = counts(frame).sum()
    job.report(
        rows=len(frame), **{str(name).replace(" ", "_"): int(n) for name, n in found.items()}
    )


if __name__ == "__main__":
    stage.run(
        main,
        str(__doc__),
        inputs=["paper_tables", "queries+", "tables*"],
        outputs=["table", "markdown", "manifest?"],
    )
