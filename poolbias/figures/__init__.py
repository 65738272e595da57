"""Figures: one module each; they read result files and import neither torch nor Java."""
