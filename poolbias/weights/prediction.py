"""Weights by what the model under training itself predicts of a negative (method `dml`)."""

import torch
from torch import Tensor

from poolbias.errors import ConfigError

PREDICTIONS = ("instance", "document")


def gaussian(
    positive: Tensor, negative: Tensor, mu: float, sigma: float, prediction: str
) -> Tensor:
    """Return the weight of each negative, exp(−(p − µ)² / 2σ²), p its predicted probability.

    With a small µ, negatives that the model believes relevant (p near 1) count little. p is

    - `instance`: sigmoid(negative), the document by itself;
    - `document`: the softmax of its score over the positive and all its negatives.

    A reconstruction of ours: the abstract of Zhang and Yang (CIKM 2021) tells of a Gaussian of the
    predicted probability and of these two granularities; their formulas could not be read.

    Args:
        positive: the model's own scores of the labelled documents, [pairs] or [pairs, 1].
        negative: its scores of the sampled negatives, [pairs] or [pairs, negatives].
        mu: µ, the probability that counts 1.
        sigma: σ > 0, in units of probability.
        prediction: `instance` or `document`.

    Returns:
        float32 of the shape of `negative`, in (0, 1], without gradient.

    Raises:
        ConfigError: for another prediction, or a σ that is not above 0.
    """
    if not sigma > 0:
        raise ConfigError(f"sigma is {sigma}, need a number above 0; correct it.")
    if prediction not in PREDICTIONS:
        known = ", ".join(PREDICTIONS)
        raise ConfigError(f"prediction is {prediction!r}, need one of {known}; correct it.")
    positives = positive.detach().float().reshape(len(positive), 1)
    negatives = negative.detach().float().reshape(len(negative), -1)
    if prediction == "instance":
        probability = torch.sigmoid(negatives)
    else:
        probability = torch.cat([positives, negatives], dim=1).softmax(dim=1)[:, 1:]
    weight = torch.exp(-((probability - mu) ** 2) / (2 * sigma**2))
    return weight.reshape(negative.shape)
