"""The report: one page that opens from disk, verdicts first, every number with its witness."""
