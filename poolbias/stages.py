"""What a stage is given: its parameters, with the fingerprint of the code that will use them.

A changed formula changes the fingerprint, the fingerprint is a parameter, and a changed parameter
makes Snakemake run the stage, and what follows from it, again.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from poolbias import losses, models, weights
from poolbias.config.experiments import Experiment, training_parameters
from poolbias.fingerprint import fingerprint
from poolbias.parameters import code

ROOT = Path(__file__).resolve().parents[1]


def given(stage: str, choices: Iterable[str], parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of a stage with `code`, which tells what it runs (see `parameters`).

    Args:
        stage: the name of its rule and script.
        choices: modules that the parameters name by string, from the registries.
        parameters: what the study file says.
    """
    chosen = sorted(choices)
    return {"code": code(fingerprint(ROOT, stage, chosen), chosen, parameters), **parameters}


def training_stage(experiment: Experiment) -> str:
    """Return the name of the stage that trains an experiment."""
    return "train_coupled_ranker" if experiment.coupled else "train_ranker"


def given_training(experiment: Experiment, seed: int) -> dict[str, Any]:
    """Return the parameters of one training, as its manifest keeps them."""
    choices = (
        models.RANKERS[experiment.parameters["ranker"]["kind"]],
        losses.REGISTRY[experiment.parameters["loss"]],
        weights.REGISTRY[experiment.parameters["weight"]["name"]],
    )
    return given(training_stage(experiment), choices, training_parameters(experiment, seed))
