"""Train a bi-encoder on the labels of a pool."""

import pandas as pd

from poolbias import stage
from poolbias.device import prepare
from poolbias.files import files_within
from poolbias.formats import read_qrels, read_run
from poolbias.formats.tsv import read_table, write_table
from poolbias.models.biencoder_files import save
from poolbias.retrieval.training.loop import COLUMNS
from poolbias.retrieval.training.rounds import Texts, first_model, train


def main(job: stage.Job) -> None:
    device = prepare(job.parameters["device"], job.parameters["threads"])
    texts = Texts(
        read_table(job.path("queries"), ["query_id", "text", "split"]),
        read_table(job.path("documents"), ["document_id", "text"]),
        read_qrels(job.path("labels")),
        read_run(job.path("run")) if "run" in job.files else None,
    )
    model = first_model(job.parameters, job.path("start").parent if "start" in job.files else None)
    model, rows = train(job.parameters, texts, model, job.unfinished(), device)
    folder = job.path("model").parent
    save(model, folder)
    job.also_made(*files_within(folder))
    training = pd.DataFrame(rows, columns=COLUMNS)
    write_table(job.path("training"), training)
    job.report(steps=len(training), loss_at_end=float(training["loss"].tail(20).mean()))


if __name__ == "__main__":
    stage.run(
        main,
        str(__doc__),
        inputs=["queries", "documents", "labels", "run?", "start?"],
        outputs=["model", "training", "manifest"],
    )
