"""Progress bars for work during which Ctrl-C ends the process."""

import contextlib
from collections.abc import Iterator

from kerasbert.cli.common.interrupts import native_code
from kerasbert.console import progress as bars
from kerasbert.console.output import note

__all__ = ["note", "progress"]


@contextlib.contextmanager
def progress(what: str, unit: str = "") -> Iterator[bars.Display]:
    """Show the progress of the block; see `Display`. Ctrl-C does not raise in it, see `native_code`.

    Args:
        what: The name of the work, such as "calibrating".
        unit: The units that are counted, such as "rows".
    """
    with bars.progress(what, unit) as bar, native_code(bar.end):
        yield bar
