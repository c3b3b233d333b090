"""What becomes of settings that a reader does not know: a note, or an error under `strict`."""

import contextlib
import functools
from collections.abc import Iterator
from contextvars import ContextVar

from kerasbert.arguments import check_flag
from kerasbert.console.output import note
from kerasbert.errors import KerasBertError

_strict: ContextVar[bool] = ContextVar("kerasbert_strict", default=False)


@contextlib.contextmanager
def strict(enabled: bool = True) -> Iterator[None]:
    """Make settings, columns and tensors that kerasbert does not know errors instead of notes, while the block runs.

    Libraries add keys to their files with every release, and most of them change nothing. Therefore an unknown key is a note that names
    it. Under `strict` it is an error, as with the option `--strict` of the commands. Keys that are known to change outputs, and are not
    supported, are errors in any case.

    Args:
        enabled: False for notes inside of a strict block.

    Yields:
        None.

    Raises:
        KerasBertError: When `enabled` is neither True nor False.

    Example:
        ```python
        with kb.strict():
            task = kb.load_task("runs/mine")
        ```
    """
    check_flag(enabled, "strict")
    token = _strict.set(enabled)
    try:
        yield
    finally:
        _strict.reset(token)


def is_strict() -> bool:
    """Return True inside a `strict` block."""
    return _strict.get()


def unknown(where: object, expected: str, received: str, consequence: str = "ignored") -> None:
    """Report what a reader found and does not know: a note, printed once, or an error under `strict`.

    Args:
        where: The file or the object, for the message.
        expected: What the reader knows, for the error.
        received: What it found, such as "the unknown key 'rotary_base'".
        consequence: What becomes of it, for the note, as a participle such as "ignored".

    Raises:
        KerasBertError: Under `strict`.
    """
    if is_strict():
        raise KerasBertError(
            f"{where}: expected {expected}, received {received}; remove it, or leave strict out to have it {consequence}"
        )
    note_once(f"note: {where}: {consequence} {received}")


@functools.lru_cache(maxsize=1024)
def note_once(line: str) -> None:
    """Print a note, unless this process has printed the same one."""
    note(line)
