"""The first step of commands that train or run a Keras model."""

import contextlib
from collections.abc import Iterator

from kerasbert.cli.common.progress import progress
from kerasbert.memory import keep_memory


@contextlib.contextmanager
def loading(what: str) -> Iterator[None]:
    """TensorFlow is imported and a model made in here: what must be set before it starts is, and progress shown."""
    keep_memory()
    with progress(f"loading TensorFlow and {what}"):
        yield
