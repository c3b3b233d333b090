"""What the engine behind the tokenizers (`tokenizers`, in Rust) raises, as our error."""

import contextlib
from collections.abc import Iterator

from kerasbert.errors import KerasBertError


@contextlib.contextmanager
def engine_errors() -> Iterator[None]:
    """Makes a KerasBertError of what the engine says of a vocabulary or settings that it does not take.

    It raises plain `Exception`s, and panics, which are none: their class derives from `BaseException` and has no name to import.
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
