"""Train a ranker on its own (every method without a selection model)."""

from poolbias import stage
from poolbias.training.run import train


def main(job: stage.Job) -> None:
    train(job, names=("R",))


if __name__ == "__main__":
    stage.run(
        main,
        str(__doc__),
        inputs=["tokens", "candidates", "first_stage?"],
        outputs=["r", "training", "timing", "manifest"],
    )
