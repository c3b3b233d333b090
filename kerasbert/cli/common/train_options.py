"""The settings of `training.Recipe` as options of a command: one list, so that flags and `recipe.toml` cannot differ."""

import dataclasses
import inspect
import typing
from collections.abc import Callable
from typing import Annotated, Any

from typer import Option

from kerasbert.errors import KerasBertError


def recipe_options(recipe: type) -> Callable:
    """A decorator: a command with a keyword argument `given` becomes one with an option for each setting of `recipe`.

    given: the settings that were on the command line, by name; of what was not given there is nothing in it.
    """
    fields = {field.name: field for field in dataclasses.fields(recipe)}
    hints = typing.get_type_hints(recipe)

    def decorate(command: Callable) -> Callable:
        own = [p for p in inspect.signature(command).parameters.values() if p.name != "given"]

        def wrapped(**values):
            given = {name: values.pop(name) for name in fields}
            return command(**values, given=_parsed(given, hints))

        first = [p for p in own if p.default is inspect.Parameter.empty or p.name == "recipe"]
        parameters = [
            *(p for p in own if p in first),
            *(_parameter(field, hints[name]) for name, field in fields.items()),
            *(p for p in own if p not in first),
        ]
        wrapped.__signature__ = inspect.Signature([p.replace(kind=p.KEYWORD_ONLY) for p in parameters])
        wrapped.__annotations__ = {p.name: p.annotation for p in parameters}
        wrapped.__name__, wrapped.__doc__ = command.__name__, command.__doc__
        return wrapped

    return decorate


def _parameter(field, hint) -> inspect.Parameter:
    kinds = [kind for kind in (typing.get_args(hint) or (hint,)) if kind is not type(None)]
    told = {"help": field.metadata["help"]}
    if field.default is not dataclasses.MISSING and field.default not in (None, False):
        told["help"] += f" Default: {field.default}."
    if typing.get_origin(hint) is dict:
        kind: Any = list[str] | None
    else:
        kind = kinds[0] | None
    if kinds[0] is not bool:
        told["metavar"] = field.metadata["metavar"]
    annotation = Annotated[kind, Option(**told)]
    return inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def _parsed(given: dict, hints: dict) -> dict:
    found = {}
    for name, value in given.items():
        if value is None or value == []:
            continue
        found[name] = (
            numbers_by_part(name, value, "layers.-1=1e-3") if typing.get_origin(hints[name]) is dict else value
        )
    return found


def numbers_by_part(option: str, words: list[str], example: str) -> dict[str, float]:
    """`{"layers.-1": 0.001}` of `layers.-1=1e-3`. Raises KerasBertError, with the option's name and the example, for other words."""
    found = {}
    for word in words:
        part, _, number = word.rpartition("=")
        try:
            found[part] = float(number)
        except ValueError:
            part = ""
        if not part:
            raise KerasBertError(f"expected --{option} as PART=NUMBER, such as {example}, received {word!r}")
    return found
