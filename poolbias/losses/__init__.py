"""Losses per pair of scores, one module each, found by name."""
