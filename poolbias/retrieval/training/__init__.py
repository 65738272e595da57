"""Training of bi-encoders: in-batch, static, refreshed and dynamic negatives."""
