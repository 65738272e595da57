"""Options of ours that bound or level weights before they enter a loss; off by default."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from poolbias.errors import ConfigError

NORMALISE = ("none", "batch", "running_mean")


@dataclass
class Adjustment:
    """What is done to the weights on one model's loss, step by step, and what it must remember.

    A weight is first cut at `clip`, so that an overflow is bounded and no pair makes up a mean by
    itself; then it is divided by a mean (`normalise`): of the step's weights (`batch`), or of those
    of all steps so far, each step counting `decay` times the next (`running_mean`). A mean of 0
    divides nothing. No source has any of this.

    Attributes:
        clip: largest weight; None is no bound.
        normalise: `none`, `batch` or `running_mean`.
        decay: of the running mean, per step, in [0, 1).
        total, count: decayed sums of the steps' means and of 1; their ratio is the running mean.
    """

    clip: float | None = None
    normalise: str = "none"
    decay: float = 0.99
    total: float = 0.0
    count: float = 0.0

    def __post_init__(self) -> None:
        if self.normalise not in NORMALISE:
            known = ", ".join(NORMALISE)
            raise ConfigError(f"normalise is {self.normalise!r}, need one of {known}; correct it.")

    def __call__(self, weights: Tensor) -> Tensor:
        """Return one step's weights adjusted, float32 [pairs, negatives], and remember them."""
        if self.clip is not None:
            weights = weights.clamp(max=self.clip)
        if self.normalise == "none":
            return weights
        mean = float(weights.mean(dtype=torch.float64))
        if self.normalise == "running_mean":
            self.total = self.decay * self.total + mean
            self.count = self.decay * self.count + 1.0
            mean = self.total / self.count
        return weights / mean if mean > 0 else weights

    def state(self) -> dict[str, Any]:
        """Return what a later step depends on, for `restore` in a resumed training."""
        return {"total": self.total, "count": self.count}

    def restore(self, state: dict[str, Any]) -> None:
        """Take up what `state` returned after the same step of an earlier training."""
        self.total, self.count = float(state["total"]), float(state["count"])
