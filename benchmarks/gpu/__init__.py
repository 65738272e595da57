"""What a GPU makes of the study's own training and scoring at BERT-base's size."""
