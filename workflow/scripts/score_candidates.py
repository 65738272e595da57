"""Score the labelled documents and the candidates of the training queries with a naive ranker."""

import pandas as pd

from poolbias import stage
from poolbias.filtering.blocks import QUERIES
from poolbias.filtering.unlabelled import PAIR, pairs_to_score, training_rows, unlabelled
from poolbias.formats import read_qrels
from poolbias.formats.trec import read_run_blocks
from poolbias.formats.tsv import read_column, read_table
from poolbias.teacher import score_pairs


def main(job: stage.Job) -> None:
    parameters = job.parameters
    rows = training_rows(
        read_table(job.path("queries"), ["query_id", "split"]),
        read_column(job.path("documents"), "document_id").to_frame("document_id"),
    )
    labels, parts, labelled = read_qrels(job.path("labels")), [], 0
    for run in read_run_blocks(job.path("run"), QUERIES):
        part = labels[labels["query_id"].isin(set(run["query_id"]))]
        found = unlabelled(run, part, None, *rows, parameters["depth"])
        labelled += len(found.labels)
        parts.append(pairs_to_score(found, parameters["scored"], parameters["seed"]))
    pairs = pd.concat(parts).sort_values(PAIR, ignore_index=True)
    kept = job.unfinished()
    scores = score_pairs(job.path("ranker").parent, job.path("tokens"), pairs, parameters, kept)
    scores.save(job.path("scores"))
    job.report(pairs=len(pairs), labelled=labelled, mean=float(scores.scores.mean()))


if __name__ == "__main__":
    stage.run(
        main,
        str(__doc__),
        inputs=["ranker", "run", "queries", "documents", "labels", "tokens"],
        outputs=["scores", "manifest"],
    )
