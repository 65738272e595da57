"""Evaluation: the canonical ranking, measures per query, their means."""

from poolbias.evaluation.measures import evaluate, missing, summarise
from poolbias.ranking import canonical, ties

__all__ = ["canonical", "evaluate", "missing", "summarise", "ties"]
