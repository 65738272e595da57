"""Which unlabelled candidates may be drawn, with what probability: one module per method."""
