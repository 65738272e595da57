"""Decide which unlabelled documents of the training queries may be drawn as negatives."""

from poolbias import negatives, stage
from poolbias.files import write_json
from poolbias.filtering import unlabelled as candidates
from poolbias.filtering.counts import POLICY, figures_of
from poolbias.filtering.pair_scores import PairScores
from poolbias.filtering.rank_relevance import read_rank_relevance
from poolbias.filtering.table import assemble
from poolbias.formats import read_qrels, read_run
from poolbias.formats.tsv import read_table, write_table


def main(job: stage.Job) -> None:
    parameters = job.parameters
    rows = candidates.training_rows(
        read_table(job.path("queries"), ["query_id", "split"]),
        read_table(job.path("documents"), ["document_id"]),
    )
    labels = read_qrels(job.path("labels"))
    if "run" in job.files:
        run, depth = read_run(job.path("run")), parameters["depth"]
    else:
        depth = parameters["size"]
        labelled = labels.loc[labels["query_id"].isin(rows[0]), "query_id"].unique().tolist()
        run = candidates.sampled_run(labelled, list(rows[1]), depth, parameters["seed"])
    truth = read_qrels(job.path("truth")) if "truth" in job.files else None
    found = candidates.unlabelled(run, labels, truth, *rows, depth)
    if "scores" in job.files:
        found = candidates.with_scores(found, PairScores.load(job.path("scores")))
    if "positive" in parameters:
        found = candidates.with_positive_score(found, parameters["positive"])
    if "pool" in job.files:
        pool = read_table(job.path("pool"), ["query_id", "document_id"])
        found = candidates.with_selected(found, pool, *rows)
    if "rank_relevance" in job.files:
        parameters["rank_relevance"] = read_rank_relevance(job.path("rank_relevance"))
    name = parameters["name"]
    table, counts = assemble(found, negatives.get(name)(found.frame, parameters))
    figures = figures_of(counts) | negatives.figures(name, found.frame, parameters) | found.figures
    table.save(job.path("candidates"))
    write_json(job.path("statistics"), figures | {"policy": POLICY})
    write_table(job.path("per_query"), counts)
    job.report(**figures)


if __name__ == "__main__":
    evidence = ["run?", "truth?", "scores?", "pool?", "rank_relevance?"]
    stage.run(
        main,
        str(__doc__),
        inputs=["queries", "documents", "labels", *evidence],
        outputs=["candidates", "statistics", "per_query"],
    )
