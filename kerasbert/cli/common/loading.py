"""Loading of TensorFlow and a Keras model, the first step of commands that train or run one."""

import contextlib
from collections.abc import Iterator

from kerasbert.cli.common.progress import progress
from kerasbert.memory import keep_memory


@contextlib.contextmanager
def loading(what: str) -> Iterator[None]:
    """Configure memory for TensorFlow and show progress while the block imports TensorFlow and loads a model.

    Args:
        what: What is loaded, such as "the model".
    """
    keep_memory()
    with progress(f"loading TensorFlow and {what}"):
        yield
