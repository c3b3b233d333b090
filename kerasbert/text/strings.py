"""Conversion of the texts that users pass (lists, tuples, arrays, bytes, generators) to strings."""

from collections.abc import Iterable, Iterator

from kerasbert.arguments import is_single
from kerasbert.errors import KerasBertError


def as_strings(values: Iterable[str | bytes], name: str = "texts") -> list[str]:
    """Convert texts to a list of `str`; bytes are decoded as UTF-8.

    Args:
        values: A list, tuple, one-dimensional array or other iterable of strings.
        name: The noun for the texts in an error.

    Returns:
        The texts.

    Raises:
        KerasBertError: When a single string is passed, an array has more than one dimension, or an entry is not valid text. The message
            names the entry.
    """
    return list(each_string(values, name))


def each_string(values: Iterable[str | bytes], name: str = "texts") -> Iterator[str]:
    """Convert texts to `str` as `as_strings` does, one at a time; the iterable itself is checked at once.

    Args:
        values: A list, tuple, one-dimensional array or other iterable of strings, such as a generator.
        name: The noun for the texts in an error.

    Returns:
        An iterator over the texts.

    Raises:
        KerasBertError: As `as_strings`; for an entry when the iterator comes to it.
    """
    if is_single(values) or not isinstance(values, Iterable):
        raise KerasBertError(
            f"expected {name} as a list of strings, received {type(values).__name__}; put a single text into a list"
        )
    if getattr(values, "ndim", 1) != 1:
        shape = tuple(getattr(values, "shape", ()))
        raise KerasBertError(f"expected {name} with one dimension, received an array of shape {shape}")
    return (_as_string(value, row, name) for row, value in enumerate(values))


def _as_string(value: object, row: int, name: str) -> str:
    if isinstance(value, bytes):
        try:
            return value.decode("utf-8")
        except UnicodeDecodeError as error:
            raise KerasBertError(
                f"expected {name} in UTF-8, received row {row} with byte 0x{value[error.start]:02x} "
                f"at offset {error.start}"
            ) from None
    if not isinstance(value, str):
        raise KerasBertError(
            f"expected every row of {name} to be a string, received {type(value).__name__} in row {row}"
        )
    if not value.isascii():
        try:
            value.encode("utf-8")
        except UnicodeEncodeError as error:
            raise KerasBertError(
                f"expected Unicode text in {name}, received row {row} with the lone surrogate "
                f"U+{ord(value[error.start]):04X} at character {error.start}"
            ) from None
    return value
