"""Claims: each a number with its interval, a claimed side, and a verdict."""
