"""The limit on the number of examples that a reader takes."""

from kerasbert.values import Rule


def check_max_rows(max_rows: int | None) -> None:
    """Check the maximum number of rows to read.

    Args:
        max_rows: The number; None for all rows.

    Raises:
        KerasBertError: When it is not a whole number of at least 1.
    """
    Rule(int | None, at_least=1).check(max_rows, "max_rows", advice="give a whole number, or None for all rows")
