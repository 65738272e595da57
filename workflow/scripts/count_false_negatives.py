"""Count the false negatives among the unlabelled candidates at the top of a run, per query."""

from poolbias import stage
from poolbias.errors import DataError
from poolbias.evaluation.false_negatives import pooled, shares
from poolbias.formats import read_qrels, read_run
from poolbias.formats.tsv import read_table, write_table


def main(job: stage.Job) -> None:
    split = job.parameters.get("split", "train")
    queries = read_table(job.path("queries"), ["query_id", "split"])
    chosen = set(queries.loc[queries["split"] == split, "query_id"])
    labels = read_qrels(job.path("labels"))
    labels = labels[labels["query_id"].isin(chosen)]
    run = read_run(job.path("run"))
    if not set(labels["query_id"]) & set(run["query_id"]):
        raise DataError(
            f"{job.path('run')}: holds no query of split {split!r} that has a label in "
            f"{job.path('labels')}; give the run of that split."
        )
    counts = shares(run, labels, read_qrels(job.path("truth")), job.parameters["depths"])
    write_table(job.path("shares"), counts)
    job.report(queries=counts["query_id"].nunique())
    total = pooled(counts)
    for depth, share in zip(total["depth"], total["share"], strict=True):
        job.report(**{f"share_in_top_{depth}": float(share)})


if __name__ == "__main__":
    stage.run(main, str(__doc__), inputs=["queries", "truth", "labels", "run"], outputs=["shares"])
