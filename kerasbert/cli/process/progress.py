"""Progress bars for work during which Ctrl-C ends the process, such as the loading of TensorFlow and a model."""

import contextlib
from collections.abc import Iterator

from kerasbert.cli.process.interrupts import native_code
from kerasbert.console import progress as bars
from kerasbert.console.output import note
from kerasbert.memory import keep_memory

__all__ = ["loading", "note", "progress"]


@contextlib.contextmanager
def progress(what: str, unit: str = "") -> Iterator[bars.Display]:
    """Show the progress of the block; see `Display`. Ctrl-C does not raise in it, see `native_code`.

    Args:
        what: The name of the work, such as "calibrating".
        unit: The units that are counted, such as "rows".
    """
    with bars.progress(what, unit) as bar, native_code(bar.end):
        yield bar


@contextlib.contextmanager
def loading(what: str) -> Iterator[None]:
    """Configure memory for TensorFlow and show progress while the block imports TensorFlow and loads a model.

    Args:
        what: What is loaded, such as "the model".
    """
    keep_memory()
    with progress(f"loading TensorFlow and {what}"):
        yield
