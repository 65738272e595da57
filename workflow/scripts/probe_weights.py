"""Score the top of a run with both models of a coupled training, and weigh each document."""

import pandas as pd

from poolbias import probe, stage
from poolbias.errors import ConfigError
from poolbias.formats import read_qrels, read_run
from poolbias.formats.tsv import read_table, rows_of, write_table
from poolbias.probe_scores import add_scores


def read_pairs(job: stage.Job) -> pd.DataFrame:
    run = read_run(job.path("run"))
    frame = probe.pairs(
        run,
        read_qrels(job.path("truth")),
        read_qrels(job.path("labels")),
        read_table(job.path("pool"), probe.PAIR) if "pool" in job.files else None,
        job.parameters["depth"],
    )
    for name in ("query", "document"):
        path = job.path("queries" if name == "query" else "documents")
        known = read_table(path, [f"{name}_id"])[f"{name}_id"]
        frame[f"{name}_row"] = rows_of(frame[f"{name}_id"], known, path)
    lacking = run["query_id"].nunique() - frame["query_id"].nunique()
    job.report(**probe.counts(frame, job.parameters["depth"]), queries_without_label=lacking)
    return frame


def main(job: stage.Job) -> None:
    parameters, tokens = job.parameters, job.path("tokens")
    frame = read_pairs(job)
    shown = parameters["query"] or probe.case(frame, parameters["depth"])
    sample = probe.sample(list(frame["query_id"]), parameters["sample"], shown)
    steps, parts = parameters["steps"], []
    if not len(steps) == len(job.paths("r")) == len(job.paths("s")):
        raise ConfigError(f"--r, --s: need a model for each of the steps {steps}; name as many.")
    for step, r, s in zip(steps, job.paths("r"), job.paths("s"), strict=True):
        part = frame if step == max(steps) else frame[frame["query_id"].isin(sample)]
        models = {"R": r.parent, "S": s.parent}
        parts.append(add_scores(part, models, tokens, parameters).assign(step=step))
    write_table(job.path("probe"), pd.concat(parts)[probe.COLUMNS], floats="%.9g")
    job.report(**probe.counts(frame, parameters["depth"]), shown=shown, pairs=sum(map(len, parts)))


if __name__ == "__main__":
    stage.run(
        main,
        str(__doc__),
        inputs=["r+", "s+", "run", "queries", "documents", "truth", "labels", "pool?", "tokens"],
        outputs=["probe", "manifest?"],
    )
