"""Validation of a tokenizer's config that was read from a file, before it is passed to the constructor."""

from collections.abc import Collection, Mapping
from typing import TypeGuard

from kerasbert.errors import KerasBertError

_ADDED_TOKEN_FLAGS = ("lstrip", "rstrip", "single_word", "normalized", "special")


def check_config(config: Mapping, kind: str, known: Collection[str], flags: Collection[str]) -> None:
    """Check the names and the types of settings.

    Args:
        config: The arguments of the constructor by name.
        kind: The kind of the tokenizer.
        known: The names of the constructor's arguments.
        flags: The names of those that are Boolean.

    Raises:
        KerasBertError: When the class has no such setting, or a value has the wrong type.
    """
    if unknown := sorted(str(name) for name in config.keys() - set(known)):
        raise KerasBertError(f"expected settings of a {kind} tokenizer, received {unknown[0]!r}")
    for name, value in config.items():
        if expected := _type_fault(name, value, flags):
            raise KerasBertError(f"expected {name} of a tokenizer as {expected}, received {str(value)[:100]}")


def _type_fault(name: str, value: object, flags: Collection[str]) -> str:
    """Return the expected type of a setting if the value has another one, or ""."""
    if name in ("vocabulary", "merges"):
        valid, expected = _is_list(value) and all(isinstance(item, str) for item in value), "a list of texts"
    elif name == "added_tokens":
        valid, expected = _is_list(value) and all(map(_is_added_token, value)), "a list of objects with content"
    elif name.endswith("_token"):
        valid, expected = value is None or isinstance(value, str), "a text"
    elif name in flags:
        valid, expected = value is None or isinstance(value, bool), "true or false"
    elif name == "model_max_length":
        valid = value is None or (isinstance(value, int | float) and not isinstance(value, bool) and value > 0)
        expected = "a positive number"
    else:
        return ""
    return "" if valid else expected


def _is_list(value: object) -> TypeGuard[list | tuple]:
    return isinstance(value, list | tuple)


def _is_added_token(value: object) -> bool:
    """Return True for the fields of an `AddedToken`: a text as `content`, and Boolean flags."""
    return (
        isinstance(value, Mapping)
        and isinstance(value.get("content"), str)
        and all(
            isinstance(flag, bool) and name in _ADDED_TOKEN_FLAGS for name, flag in value.items() if name != "content"
        )
    )
