"""Checks of the arguments of public functions: whole numbers, flags, paths and lists. A wrong one is an error of one line."""

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping, Set
from contextvars import ContextVar
from typing import Any

from kerasbert.errors import KerasBertError
from kerasbert.values import INFINITE, Rule, is_whole_number

_LONGEST_SHOWN = 60  # characters
_LONGEST_NAME, _LONGEST_PATH = 255, 4095  # bytes; Linux, macOS and Windows take no longer ones


_options: ContextVar[Mapping[str, str] | None] = ContextVar(
    "options", default=None
)  # of the running command, by argument


def argument(name: str) -> str:
    """Return an argument of a public function as a message names it: "`label=`", and --label-column while a command with it runs."""
    return (_options.get() or {}).get(name, f"`{name}=`")


@contextlib.contextmanager
def naming_options(options: Mapping[str, str]) -> Iterator[None]:
    """Let messages of the block name the options of a command.

    Args:
        options: The option by the name of the argument that it sets.
    """
    token = _options.set(options)
    try:
        yield
    finally:
        _options.reset(token)


def shown(value: object) -> str:
    """Return a value as a message shows it: texts and numbers as they are, anything else by its type."""
    if value is None or isinstance(value, str | bool | int | float):
        text = repr(value)
        return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."
    shape = getattr(value, "shape", None)
    return type(value).__name__ + (f" of shape {shape}" if isinstance(shape, tuple) else "")


def check_whole_number(value: Any, name: str, least: int = 1, most: int | None = None) -> int:
    """Return a whole number as an `int`.

    Args:
        value: The argument.
        name: Its name in the message, with an article.
        least: The smallest number that is accepted.
        most: The largest one; None for any.

    Raises:
        KerasBertError: When it is not a whole number, or out of these bounds. True and False are no numbers.
    """
    bounds = f"of at least {least}" if most is None else f"from {least} to {most}"
    advice = "pass a whole number"
    if is_whole_number(value):
        advice = "raise it" if value < least else "lower it"
    rule = Rule(int, at_least=least, at_most=INFINITE if most is None else most)
    return _checked(value, rule, f"{name} {bounds}", advice)


def check_flag(value: Any, name: str) -> bool:
    """Return a flag.

    Raises:
        KerasBertError: When it is neither True nor False.
    """
    return _checked(value, Rule(bool), f"{name} as True or False", "pass one of them")


def check_choice(value: Any, expected: str, choices: Iterable[str], advice: str = "name one of these") -> str:
    """Return a name that is one of some choices.

    Args:
        value: The argument.
        expected: What the message says before the choices, such as "a recipe of".
        choices: The names.
        advice: What to do about another one.

    Raises:
        KerasBertError: When it is none of them; the message lists them.
    """
    names = tuple(choices)
    return _checked(value, Rule(str, choices=names), f"{expected} {', '.join(names)}", advice)


def _checked(value: Any, rule: Rule, expected: str, advice: str) -> Any:
    """Return a value as its rule does, or raise the error with what was expected and what to do."""
    if rule.fault(value) is not None:
        raise KerasBertError(f"expected {expected}, received {shown(value)}; {advice}")
    return rule.settled(value)


def check_path(value: Any, name: str = "a path or a name") -> str:
    """Return a path or the name of a model as a text.

    Raises:
        KerasBertError: When it is neither, is empty, or has characters that no path has.
    """
    path = os.fspath(value) if isinstance(value, os.PathLike) else value
    if not isinstance(path, str):
        raise KerasBertError(f"expected {name} as a text or pathlib.Path, received {shown(value)}; pass one of them")
    if not path or "\0" in path:
        raise KerasBertError(
            f"expected {name} without NUL characters, and not empty, received {shown(path)}; correct it"
        )
    try:
        parts = os.fsencode(path).split(b"/")
    except UnicodeEncodeError:
        raise KerasBertError(
            f"expected {name} in Unicode, received a lone surrogate U+{ord(next(filter(_is_surrogate, path))):04X}; correct it"
        ) from None
    if max(map(len, parts)) > _LONGEST_NAME or len(path) > _LONGEST_PATH:
        raise KerasBertError(f"expected {name}, received {len(path):,} characters, too many for one; correct it")
    return path


def check_list(values: Any, name: str) -> Any:
    """Return values with an order and a length, such as a list or an array.

    Args:
        values: The argument.
        name: The plural noun for it in the message.

    Raises:
        KerasBertError: When they are a single text, a mapping, a set, or nothing with a length.
    """
    if not is_sized(values):
        raise KerasBertError(f"expected {name} as a list or an array, received {shown(values)}; put them in a list")
    return values


def is_single(values: object) -> bool:
    """Return whether a value is one text, a mapping, a set (which has no order), a class, or an array without axes: no list of values."""
    return (
        isinstance(values, str | bytes | bytearray | memoryview | Mapping | Set | type)
        or getattr(values, "ndim", 1) == 0
    )


def is_sized(values: object) -> bool:
    """Return whether values have a length and can be iterated: a list or an array, not a generator, a class or an array without axes."""
    return not is_single(values) and isinstance(values, Iterable) and hasattr(values, "__len__")


def to_list(values: Any, name: str) -> list:
    """Return values that are iterated once, such as those of a generator, as a list.

    Args:
        values: The argument.
        name: The noun for it in the message, with an article.

    Raises:
        KerasBertError: When they are a mapping, a set (which has no order), bytes, or cannot be iterated.
    """
    if isinstance(values, Mapping):
        keys = ", ".join(shown(key) for key in list(values)[:3]) or "no keys"
        raise KerasBertError(
            f"expected {name}, received a {type(values).__name__} with {keys}; pass the values in a list"
        )
    if is_single(values):
        raise KerasBertError(f"expected {name}, received {shown(values)}; pass a list")
    try:
        return list(values)
    except TypeError:
        raise KerasBertError(f"expected {name}, received {shown(values)}; pass a list") from None


def _is_surrogate(character: str) -> bool:
    return 0xD800 <= ord(character) <= 0xDFFF
