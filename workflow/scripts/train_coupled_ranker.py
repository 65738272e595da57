"""Train a relevance model R and a selection model S that weight each other's pairs (CET)."""

from poolbias import stage
from poolbias.training.run import train


def main(job: stage.Job) -> None:
    train(job, names=("R", "S"))


if __name__ == "__main__":
    stage.run(
        main,
        str(__doc__),
        inputs=["tokens", "candidates", "first_stage?"],
        outputs=["r", "s", "training", "timing", "manifest", "snapshots*"],
    )
