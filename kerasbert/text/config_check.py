"""Validation of a tokenizer's config that was read from a file, before it is passed to the constructor."""

from collections.abc import Collection, Mapping

from kerasbert.errors import KerasBertError
from kerasbert.text.tokenizer_files import MAX_LENGTH
from kerasbert.values import Rule

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
        _rule(name, flags).check(value, f"{name} of a tokenizer")
        if name == "added_tokens" and not all(map(_is_added_token, value)):
            raise KerasBertError(
                f"expected {name} of a tokenizer as a list of objects with content, received {str(value)[:100]}; correct it"
            )


def _rule(name: str, flags: Collection[str]) -> Rule:
    """Return what a setting must be."""
    if name in ("vocabulary", "merges"):
        return Rule(tuple[str, ...])
    if name == "added_tokens":
        return Rule(tuple[Mapping, ...])
    if name == "model_max_length":
        return MAX_LENGTH
    return Rule(str | None if name.endswith("_token") else bool | None if name in flags else object)


def _is_added_token(value: object) -> bool:
    """Return True for the fields of an `AddedToken`: a text as `content`, and Boolean flags."""
    return (
        isinstance(value, Mapping)
        and isinstance(value.get("content"), str)
        and all(
            isinstance(flag, bool) and name in _ADDED_TOKEN_FLAGS for name, flag in value.items() if name != "content"
        )
    )
