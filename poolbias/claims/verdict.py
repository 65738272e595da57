"""From an interval to a verdict."""

import math
from dataclasses import dataclass

REPRODUCED, CONTRADICTED = "reproduced", "contradicted"
INCONCLUSIVE, NOT_RUN = "inconclusive", "not run"
VERDICTS = (REPRODUCED, CONTRADICTED, INCONCLUSIVE, NOT_RUN)
ABOVE, BELOW, WITHIN = "above", "below", "within"
ONE_SEED = "one seed says nothing of the next"


class NotRunError(Exception):
    """What a check needs is not there; the message says what."""


@dataclass(frozen=True)
class Finding:
    """What a check found: an effect, its interval, and what both rest on.

    Attributes:
        effect: the number that is looked at.
        low: lower bound of its 95% interval.
        high: upper bound of it.
        seeds: how many seeds; 0 where nothing was trained.
        queries: number of queries.
        groups: number of terms (the unit that is resampled).
        about: pool, retriever, ranker and `systems`, for the row.
        p_t: p of the paired t-test.
        p_randomisation: p of the randomisation test over terms.
        smallest_detectable: difference that would be found with 80% power.
        sources: ids of the systems behind it.
        verdict: the verdict, where the check gives it itself.
        reason: why the verdict is not one of the clear ones.
    """

    effect: float
    low: float
    high: float
    seeds: int
    queries: int
    groups: int
    about: dict[str, str]
    p_t: float = math.nan
    p_randomisation: float = math.nan
    smallest_detectable: float = math.nan
    sources: tuple[str, ...] = ()
    verdict: str = ""
    reason: str = ""


def judge(low: float, high: float, side: str, threshold: float) -> str:
    """Return the verdict of an interval: `reproduced`, `contradicted` or `inconclusive`.

    Args:
        low: lower bound; an interval that touches the threshold is on neither side.
        high: upper bound.
        side: the claimed side: `above` or `below` the threshold, or `within` it of 0.
        threshold: where the sides meet.

    Raises:
        ValueError: if the side is none of these.
    """
    if side == ABOVE:
        claimed, other = low > threshold, high < threshold
    elif side == BELOW:
        claimed, other = high < threshold, low > threshold
    elif side == WITHIN:
        claimed = low > -threshold and high < threshold
        other = low > threshold or high < -threshold
    else:
        raise ValueError(f"side {side!r} is not known")
    return REPRODUCED if claimed else CONTRADICTED if other else INCONCLUSIVE


def decide(finding: Finding, side: str, threshold: float) -> tuple[str, str]:
    """Return verdict and reason of a finding; one seed is always `inconclusive`."""
    if finding.seeds == 1:
        return INCONCLUSIVE, finding.reason or ONE_SEED
    if math.isnan(finding.low) or math.isnan(finding.high):
        return INCONCLUSIVE, finding.reason or "no interval"
    verdict = finding.verdict or judge(finding.low, finding.high, side, threshold)
    if verdict == INCONCLUSIVE and not finding.reason:
        ends = {WITHIN: f"±{threshold:g}"}.get(side, f"{threshold:g}")
        return verdict, f"the interval is on neither side of {ends}"
    return verdict, finding.reason
