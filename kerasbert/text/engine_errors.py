"""Conversion of errors of the engine (`tokenizers`, in Rust) to `KerasBertError`."""

import contextlib
from collections.abc import Iterator

from kerasbert.errors import KerasBertError


@contextlib.contextmanager
def engine_errors() -> Iterator[None]:
    """Convert the engine's errors about a vocabulary or settings.

    The engine raises plain `Exception`s, and panics. The class of a panic derives from `BaseException` and cannot be imported.

    Raises:
        KerasBertError: When the engine raises in the context.
    """
    try:
        yield
    except KerasBertError:
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise KerasBertError(
            f"expected a vocabulary and settings that `tokenizers` takes, received {type(error).__name__}: {error}; "
            "the tokenizer files are damaged"
        ) from error
