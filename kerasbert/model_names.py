"""Names of models that ship with the package. Lower layers look them up here and know nothing of the zoo, which registers them."""

from collections.abc import Callable, Sequence
from pathlib import Path

_lookups: list[tuple[Callable[[str], Path | None], Callable[[], Sequence[str]]]] = []


def register(lookup: Callable[[str], Path | None], names: Callable[[], Sequence[str]]) -> None:
    """Add a source of named models.

    Args:
        lookup: Maps a name to the folder or file of that model, or to None.
        names: Returns all names, for suggestions.
    """
    _lookups.append((lookup, names))


def shipped_model(name: str) -> Path | None:
    """Return the folder or file of a shipped model, or None if no model has this name."""
    return next((path for lookup, _ in _lookups if (path := lookup(name)) is not None), None)


def shipped_names() -> list[str]:
    """Return the names of all shipped models."""
    return [name for _, names in _lookups for name in names()]
