"""Decide which unlabelled documents of the training queries may be drawn as negatives."""

import pandas as pd

from poolbias import negatives, stage
from poolbias.files import write_json
from poolbias.filtering import blocks
from poolbias.filtering import unlabelled as candidates
from poolbias.filtering.counts import POLICY, figures_of
from poolbias.filtering.pair_scores import PairScores
from poolbias.filtering.rank_relevance import read_rank_relevance
from poolbias.formats import read_qrels
from poolbias.formats.trec import read_run_blocks
from poolbias.formats.tsv import read_column, read_table, write_table


def main(job: stage.Job) -> None:
    parameters, name = job.parameters, job.parameters["name"]
    documents = read_column(job.path("documents"), "document_id").to_frame("document_id")
    queries = read_table(job.path("queries"), ["query_id", "split"])
    rows = candidates.training_rows(queries, documents)
    labels = read_qrels(job.path("labels"))
    truth = read_qrels(job.path("truth")) if "truth" in job.files else None
    scores = PairScores.load(job.path("scores")) if "scores" in job.files else None
    pool = None
    if "pool" in job.files:
        pool = read_table(job.path("pool"), ["query_id", "document_id"])
    if "rank_relevance" in job.files:
        parameters["rank_relevance"] = read_rank_relevance(job.path("rank_relevance"))
    depth = parameters["depth"] if "run" in job.files else parameters["size"]

    def one(run: pd.DataFrame, judged: pd.DataFrame) -> candidates.Unlabelled:
        found = candidates.unlabelled(run, judged, truth, *rows, depth)
        if parameters.get("judged_irrelevant") == "left_out":
            found = candidates.without_judged(found, judged, *rows)
        found = candidates.with_scores(found, scores) if scores else found
        if "positive" in parameters:
            found = candidates.with_positive_score(found, parameters["positive"])
        return found if pool is None else candidates.with_selected(found, pool, *rows)

    if "run" in job.files:
        runs = read_run_blocks(job.path("run"), blocks.QUERIES)
    else:
        labelled = labels.loc[labels["query_id"].isin(rows[0]), "query_id"].unique().tolist()
        seed = parameters["seed"]
        runs = iter([candidates.sampled_run(labelled, list(rows[1]), depth, seed)])
    parts = blocks.find(runs, labels, one)
    more: dict[str, float] = {}
    if negatives.over_all_queries(name):
        found = blocks.join(parts)
        more, parts = negatives.figures(name, found.frame, parameters), iter([found])
    weigh = negatives.get(name)
    counts, added = blocks.write(parts, lambda f: weigh(f, parameters), job.path("candidates"))
    figures = figures_of(counts) | more | added
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
