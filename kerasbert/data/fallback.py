"""The label of texts that belong to none of the classes, and the probability below which a text gets it."""

from typing import Any

from kerasbert.arguments import argument, shown
from kerasbert.errors import KerasBertError
from kerasbert.values import is_number

KEEP = 0.95  # the share of right predictions that a threshold keeps where no text belongs to no class


def check_fallback(fallback: Any, below: Any) -> None:
    """Check the label of texts that belong to no class, and its probability.

    Args:
        fallback: The label; None without.
        below: The probability below which a text gets it; None if it is to be chosen.

    Raises:
        KerasBertError: When one is out of range, or there is a probability alone.
    """
    if fallback is not None and (not isinstance(fallback, str) or not fallback.strip() or "\n" in fallback):
        raise KerasBertError(
            f"expected {argument('fallback')} as a label, received {shown(fallback)}; name it, such as 'oos'"
        )
    if below is not None and (fallback is None or not is_number(below, 0, 1)):
        raise KerasBertError(
            f"expected {argument('fallback_below')} as a probability from 0 to 1, with {argument('fallback')}, received "
            f"{shown(below)} with {shown(fallback)}; correct them"
        )


def check_keep(keep: Any) -> float:
    """Check the share of right predictions that stay.

    Args:
        keep: The share.

    Raises:
        KerasBertError: When it is not above 0 and at most 1.
    """
    if not is_number(keep, 0, 1) or keep == 0:
        raise KerasBertError(
            f"expected {argument('keep')} as a number above 0 and at most 1, received {shown(keep)}; it is a share"
        )
    return float(keep)
