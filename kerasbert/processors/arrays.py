"""Arrays of the values that users pass."""

from typing import Any

import numpy as np

from kerasbert.arguments import check_list
from kerasbert.errors import KerasBertError


def as_array(values: Any, name: str) -> np.ndarray:
    """Return values as an array.

    Args:
        values: A list or an array.
        name: The plural noun for the values in the message.

    Raises:
        KerasBertError: When they are no list, or make no array of one type.
    """
    check_list(values, name)
    try:
        return np.asarray(values)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise _error(values, name) from error


def as_finite_numbers(values: Any, name: str) -> np.ndarray:
    """Return numbers as an array, float32.

    Args:
        values: A list or an array.
        name: The plural noun for the values in the message.

    Raises:
        KerasBertError: When they are no list of numbers, or one is NaN, infinite or too large for float32.
    """
    numbers = as_array(values, name)
    if (numbers.size and numbers.dtype.kind not in "biuf") or np.ma.isMaskedArray(values):
        raise _error(values, name)
    with np.errstate(over="ignore"):
        numbers = numbers.astype(np.float32)
    if not np.isfinite(numbers).all():
        row = int(np.argwhere(~np.isfinite(numbers))[0][0])
        raise KerasBertError(
            f"row {row}: expected finite {name}, received NaN or infinity; leave the row out or correct it"
        )
    return numbers


def _error(values: Any, name: str) -> KerasBertError:
    first = next((type(each).__name__ for each in values), "nothing")
    return KerasBertError(
        f"expected {name} as a list or an array of numbers, received a first entry of type {first}; convert them"
    )
