"""Bring given runs, official or a user's, into the files of the three splits."""

from poolbias import stage
from poolbias.errors import DataError
from poolbias.formats.tsv import read_table
from poolbias.retrieval.given_runs import Plan, bring
from poolbias.retrieval.runs import SPLITS


def main(job: stage.Job) -> None:
    if not job.paths("files"):
        raise DataError(
            f"{job.path('train').parent}: no file of these runs is there, need some in the folder "
            "that the study file names, as docs/collections.md tells; put them there."
        )
    queries = read_table(job.path("queries"), ["query_id", "split"])
    outputs = {name: job.path(name) for name in (*SPLITS, "no_hits")}
    plan = Plan(job.parameters["depth"], job.parameters["ranked"], job.parameters["tag"])
    job.report(**bring(job.paths("files"), queries, outputs, plan), ranked=plan.ranked)


if __name__ == "__main__":
    stage.run(
        main,
        str(__doc__),
        inputs=["queries", "files*"],
        outputs=["train", "dev", "test", "no_hits", "manifest"],
    )
