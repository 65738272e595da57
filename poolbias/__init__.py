"""Pooling bias in the training of neural rankers: every formula and loop of the study.

Imports point downward only; `docs/architecture.md` lists the floors.
"""

__version__ = "0.1.0"
