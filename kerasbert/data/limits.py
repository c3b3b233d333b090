"""The limit on the number of examples that a reader takes."""

from kerasbert.errors import KerasBertError
from kerasbert.values import is_whole_number


def check_max_rows(max_rows: int | None) -> None:
    """Check the maximum number of rows to read.

    Args:
        max_rows: The number; None for all rows.

    Raises:
        KerasBertError: When it is not a whole number of at least 1.
    """
    if max_rows is None or is_whole_number(max_rows, 1):
        return
    raise KerasBertError(
        f"expected max_rows of at least 1, received {max_rows!r}; give a whole number, or None for all rows"
    )
