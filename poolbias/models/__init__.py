"""Models: rankers (cross-encoders) and bi-encoders."""
