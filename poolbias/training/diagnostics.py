"""What a coupled training tells of its weights, and when it must be warned about."""

import logging
from collections import deque
from typing import Any

import numpy as np
from numpy.typing import NDArray

log = logging.getLogger("poolbias")

QUANTILES = (0.1, 0.5, 0.9)
# Our choices: a mean weight that far from 1 over this many steps in a row is told.
RUNAWAY, STARVED, WINDOW = 100.0, 0.01, 20


def describe(
    name: str, weights: NDArray[np.float32], false_negative: NDArray[np.bool_] | None
) -> dict[str, float]:
    """Return statistics of one batch's weights, by column name.

    Mean, quantiles, maximum, share above 1, the effective sample size (Σw)² / Σw² (Kish 1965) as a
    share of the weights, and the means over false and over true negatives where the truth is known
    (NaN for an empty group).

    Args:
        name: `w_r` or `w_s`.
        weights: float32 [pairs, negatives], or of another shape.
        false_negative: bool of the same shape by the truth, or None.
    """
    w = weights.astype(np.float64).ravel()
    quantiles = np.quantile(w, QUANTILES)
    square = float((w**2).sum())
    row = {f"{name}_mean": float(w.mean())}
    row |= {f"{name}_q{int(q * 100)}": float(v) for q, v in zip(QUANTILES, quantiles, strict=True)}
    row |= {
        f"{name}_max": float(w.max()),
        f"{name}_share_above_1": float((w > 1).mean()),
        f"{name}_effective_share": float(w.sum()) ** 2 / square / len(w) if square else 0.0,
    }
    if false_negative is not None:
        false = false_negative.ravel()
        for kind, group in (("false", w[false]), ("true", w[~false])):
            row[f"{name}_{kind}_negatives_mean"] = float(group.mean()) if len(group) else np.nan
    return row


class Watch:
    """Warns of runaway weights and of a starved model, once per window of steps."""

    def __init__(self) -> None:
        self.means: dict[str, deque[float]] = {}
        self.quiet_until = 0
        self.warnings = 0

    def state(self) -> dict[str, Any]:
        """Return what a later step depends on, for `restore` in a resumed training."""
        means = {name: list(window) for name, window in self.means.items()}
        return {"means": means, "quiet_until": self.quiet_until, "warnings": self.warnings}

    def restore(self, state: dict[str, Any]) -> None:
        """Take up what `state` returned after the same step of an earlier training."""
        self.means = {name: deque(values, WINDOW) for name, values in state["means"].items()}
        self.quiet_until, self.warnings = state["quiet_until"], state["warnings"]

    def look(self, step: int, name: str, model: str, mean: float) -> None:
        """Take in the mean weight `name` on the loss of `model` at `step`."""
        window = self.means.setdefault(name, deque(maxlen=WINDOW))
        window.append(mean)
        if len(window) < WINDOW or step < self.quiet_until:
            return
        if min(window) > RUNAWAY:
            told = f"RUNAWAY WEIGHTS: mean {name} was above {RUNAWAY:g}"
        elif max(window) < STARVED:
            told = f"STARVED MODEL {model}: mean {name} was below {STARVED:g}"
        else:
            return
        self.quiet_until = step + WINDOW
        self.warnings += 1
        log.warning("step %d: %s in each of the last %d steps (now %.3g)", step, told, WINDOW, mean)
