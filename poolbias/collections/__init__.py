"""Collections: one module each, found by the kind that a study file names."""
