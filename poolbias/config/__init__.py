"""The typed model of a study file, and what follows from it."""
