"""The one training loop of the study, and its parts."""
