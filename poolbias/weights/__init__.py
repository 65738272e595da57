"""Weights of a pair of scores, one module each, found by name."""
