"""Evaluation: the canonical ranking, measures per query, their means."""
