"""Re-order the top of a run by a trained ranker's scores."""

from poolbias import models, stage
from poolbias.device import prepare
from poolbias.files import files_within
from poolbias.formats import read_run, write_run
from poolbias.formats.tsv import read_column, rows_of
from poolbias.ranking import canonical, ties
from poolbias.scoring import score
from poolbias.tokens import Limits, TokenStore


def main(job: stage.Job) -> None:
    parameters = job.parameters
    device = prepare(parameters["device"], parameters["threads"])
    folder = job.path("ranker").parent
    for file in files_within(folder):
        job.check(file)
    kind = models.ranker(models.kind_of(folder))
    run = read_run(job.path("run"))
    run = run[run["rank"] <= parameters["depth"]].reset_index(drop=True)
    rows = {}
    for name in ("query", "document"):
        path = job.path("queries" if name == "query" else "documents")
        rows[name] = rows_of(run[f"{name}_id"], read_column(path, f"{name}_id"), path)
    run["score"] = score(
        kind.load(folder).to(device),
        kind.scores,
        TokenStore(job.path("tokens")),
        rows["query"],
        rows["document"],
        Limits(**parameters["limits"]),
        parameters["precision"],
        kept=job.unfinished(),
    )
    ranking = canonical(run)
    write_run(job.path("ranking"), ranking, tag=parameters["tag"])
    job.report(pairs=len(ranking), ties=ties(ranking))


if __name__ == "__main__":
    stage.run(
        main,
        str(__doc__),
        inputs=["ranker", "run", "queries", "documents", "tokens"],
        outputs=["ranking", "manifest"],
    )
