"""CET's weights: each model's pairs are weighted by what the other model says of them."""

import torch
from torch import Tensor

from poolbias.errors import ConfigError

FORMS = ("paper", "released")


def coupled(positive: Tensor, negative: Tensor, temperature: float, form: str) -> Tensor:
    """Return the weight of each pair from the *other* model's scores.

    For R's loss the scores are those of the selection model S, giving w_r (Eq. 18); for S's loss
    those of the relevance model R, giving w_s (Eq. 19).

    - `paper`: exp((negative − positive) / τ), Cai et al. 2022, Eq. 18 and 19 (there τ = 1);
    - `released`: 1 / (1 − sigmoid(negative / τ)) = 1 + exp(negative / τ), the authors' released
      code (train.py of caiyinqiong/Coupled_Estimation_Technique; its script has τ = 10).

    Nothing bounds either: scores are float32 and a weight may overflow to infinity. `released`
    reads the negative's score alone, whose level a pairwise or softmax loss leaves free: adding a
    number to all scores of a query changes no loss, but this weight.

    Args:
        positive: the other model's scores of the labelled documents, [pairs] or [pairs, 1].
        negative: the other model's scores of the sampled negatives, [pairs] or
            [pairs, negatives].
        temperature: τ > 0, in units of scores.
        form: `paper` or `released`.

    Returns:
        float32 of the shape of `negative`, without gradient.

    Raises:
        ConfigError: for another form, or a temperature that is not above 0.
    """
    if not temperature > 0:
        raise ConfigError(f"temperature is {temperature}, need a number above 0; correct it.")
    positive, negative = positive.detach().float(), negative.detach().float()
    if form == "paper":
        return torch.exp((negative - positive) / temperature)
    if form == "released":
        return 1.0 + torch.exp(negative / temperature)
    raise ConfigError(f"form is {form!r}, need one of {', '.join(FORMS)}; correct it.")
