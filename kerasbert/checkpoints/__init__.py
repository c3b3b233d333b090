"""Checkpoint input and output: file formats, explicit name maps, the Hugging Face hub."""
