"""Heads: layers from the encoder's output to the outputs of a task, kerasbert's own and those of users."""
