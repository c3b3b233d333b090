"""Scores and speed of training, against PyTorch transformers and baselines."""
