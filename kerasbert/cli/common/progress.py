"""Progress of work in which Ctrl-C ends the process."""

import contextlib
from collections.abc import Iterator

from kerasbert.cli.common.interrupts import native_code
from kerasbert.console import progress as bars
from kerasbert.console.output import note

__all__ = ["note", "progress"]


@contextlib.contextmanager
def progress(what: str) -> Iterator[bars.Progress]:
    """Shows how far `what` is; see `Progress.update`. In the block Ctrl-C does not raise, see `native_code`."""
    with bars.progress(what) as shown, native_code(shown.stop):
        yield shown
