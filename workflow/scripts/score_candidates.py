"""Score the labelled documents and the candidates of the training queries with a naive ranker."""

from poolbias import stage
from poolbias.filtering.unlabelled import pairs_to_score, training_rows, unlabelled
from poolbias.formats import read_qrels, read_run
from poolbias.formats.tsv import read_table
from poolbias.teacher import score_pairs


def main(job: stage.Job) -> None:
    parameters = job.parameters
    rows = training_rows(
        read_table(job.path("queries"), ["query_id", "split"]),
        read_table(job.path("documents"), ["document_id"]),
    )
    run, labels = read_run(job.path("run")), read_qrels(job.path("labels"))
    found = unlabelled(run, labels, None, *rows, parameters["depth"])
    pairs = pairs_to_score(found, parameters["scored"], parameters["seed"])
    kept = job.unfinished()
    scores = score_pairs(job.path("ranker").parent, job.path("tokens"), pairs, parameters, kept)
    scores.save(job.path("scores"))
    job.report(pairs=len(pairs), labelled=len(found.labels), mean=float(scores.scores.mean()))


if __name__ == "__main__":
    stage.run(
        main,
        str(__doc__),
        inputs=["ranker", "run", "queries", "documents", "labels", "tokens"],
        outputs=["scores", "manifest"],
    )
