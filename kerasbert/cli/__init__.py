"""The `kerasbert` command. Nothing here imports NumPy or TensorFlow before a command needs it."""

from kerasbert.cli.app import main

__all__ = ["main"]
