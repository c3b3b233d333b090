"""A tokenizer's config as it comes out of a file, checked before a constructor takes it."""

import inspect
from collections.abc import Mapping

from kerasbert.errors import KerasBertError

_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def check_config(config: Mapping, kind: type) -> None:
    """Raises KerasBertError for a setting that a kind of tokenizer does not have, or whose value is of another type."""
    parameters = [found for base in kind.__mro__ for found in inspect.signature(base.__init__).parameters.values()]
    known = {found.name for found in parameters if found.kind in _NAMED} - {"self"}
    if unknown := sorted(str(name) for name in config.keys() - known):
        raise KerasBertError(f"expected settings of a {kind.kind} tokenizer, received {unknown[0]!r}")
    for name, value in config.items():
        expected = _wrong(name, value, kind)
        if expected:
            raise KerasBertError(f"expected {name} of a tokenizer as {expected}, received {str(value)[:100]}")


def _wrong(name: str, value: object, kind: type) -> str:
    """What a setting should have been; "" where it is that."""
    if name in ("vocabulary", "merges"):
        fits, expected = (
            isinstance(value, list | tuple) and all(isinstance(part, str) for part in value),
            "a list of texts",
        )
    elif name == "added_tokens":
        fits, expected = (
            isinstance(value, list | tuple) and all(map(_is_token, value)),
            "a list of objects with content",
        )
    elif name.endswith("_token"):
        fits, expected = value is None or isinstance(value, str), "a text"
    elif name in kind.flags.values():
        fits, expected = value is None or isinstance(value, bool), "true or false"
    elif name == "model_max_length":
        fits, expected = value is None or type(value) in (int, float) and value > 0, "a positive number"
    else:
        return ""
    return "" if fits else expected


def _is_token(value: object) -> bool:
    """The fields of an `AddedToken`: a text, and what is true or false of it."""
    return (
        isinstance(value, Mapping)
        and isinstance(value.get("content"), str)
        and all(isinstance(flag, bool) and name in _FLAGS for name, flag in value.items() if name != "content")
    )


_FLAGS = ("lstrip", "rstrip", "single_word", "normalized", "special")
