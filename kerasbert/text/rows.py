"""Texts as users hold them - lists, tuples, arrays, bytes - as a plain list of strings."""

from collections.abc import Iterable, Mapping

from kerasbert.errors import KerasBertError


def text_rows(values: Iterable[str | bytes], name: str = "texts") -> list[str]:
    """`values` as a list of `str`; bytes are read as UTF-8.

    Args:
      values: list, tuple, one-dimensional array or other iterable of strings, one a row.
      name: what the rows are called in an error.

    Raises:
      KerasBertError: a single string instead of rows, more than one dimension, or a row that is no valid text; it names
        the row and what was received.
    """
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        raise KerasBertError(
            f"expected {name} as a list of strings, received {type(values).__name__}; put a single text into a list"
        )
    if getattr(values, "ndim", 1) != 1:
        raise KerasBertError(f"expected {name} with one dimension, received an array of shape {tuple(values.shape)}")
    return [_text(value, row, name) for row, value in enumerate(values)]


def _text(value, row: int, name: str) -> str:
    if isinstance(value, bytes):
        try:
            return value.decode("utf-8")
        except UnicodeDecodeError as error:
            raise KerasBertError(
                f"expected {name} in UTF-8, received row {row} with byte 0x{value[error.start]:02x} "
                f"at offset {error.start}."
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
