"""Groups of command line options made from frozen configs, so that options and files share one declaration."""

import dataclasses
import functools
import inspect
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from typer import Option

from kerasbert.cli.arguments import options
from kerasbert.errors import KerasBertError
from kerasbert.files.record import REQUIRED, Options, flag, rules
from kerasbert.values import INFINITE, Rule

_FIRST = ("teacher", "student", "model", "train", "dev", "out")  # listed first in --help, in this order


@dataclass(frozen=True)
class OptionGroup:
    """The options of one config class.

    Attributes:
        config: The class, a frozen dataclass whose fields are made by `setting`.
        without: Fields that the command does not have.
        required: Fields that the command requires.
        defaults: Replacements of defaults.
        help: Replacements of help texts.
        given_only: Whether the command receives a dict of the given options instead of a config, to merge it with the settings of a file.
    """

    config: type[Options]
    without: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    defaults: Mapping[str, Any] = field(default_factory=dict)
    help: Mapping[str, str] = field(default_factory=dict)
    given_only: bool = False

    def parameters(self) -> list[inspect.Parameter]:
        """Return one keyword parameter for each field, for typer."""
        found = rules(self.config)
        return [self._parameter(each, found[each.name]) for each in self._fields()]

    def collect(self, values: dict[str, Any]) -> Any:
        """Remove the group's values from those of a command, and make the config.

        Args:
            values: The values of all options by name; the group's are removed.

        Returns:
            The config, or a dict of the given options with `given_only`.

        Raises:
            KerasBertError: When a value is invalid.
        """
        found, given = rules(self.config), {}
        for each in self._fields():
            value = values.pop(each.name)
            if value is not None and value != []:
                example = each.metadata["metavar"]
                given[each.name] = parse_pairs(each.name, value, example) if _kind(found[each.name]) is dict else value
        return given if self.given_only else self.config(**{**self.defaults, **given})

    def _fields(self) -> list[dataclasses.Field]:
        return [each for each in dataclasses.fields(self.config) if each.name not in self.without]

    def _parameter(self, config_field: dataclasses.Field, rule: Rule) -> inspect.Parameter:
        name, required = config_field.name, config_field.name in self.required
        default = self.defaults.get(name, config_field.default)
        text = self.help.get(name, config_field.metadata["help"])
        shown = default is not REQUIRED and not isinstance(default, bool) and default is not None
        if shown and not required:
            text += f" Default: {default}{_bounds(rule)}."
        kind = _kind(rule)
        annotation: Any = list[str] if kind is dict else kind
        if kind is bool:
            # `--no-...` turns off what the default or a file turns on.
            off = config_field.metadata["off"]
            both = default or self.given_only or off
            names = f"{flag(name)}/{flag(off or f'no_{name}')}" if both else flag(name)
            declared = Option(names, help=text)
        else:
            declared = Option(help=text, metavar=config_field.metadata["metavar"])
        annotation = Annotated[annotation if required else annotation | None, declared]
        standard = inspect.Parameter.empty if required else None
        return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=standard, annotation=annotation)


def with_options(*shared: str, **groups: OptionGroup) -> Callable:
    """Return a decorator that replaces parameters of a command by the options of their groups, and adds the options of all commands.

    Args:
        shared: Which of `folder_task`, `head` and `strict` the command has beside `json` and `debug`. The application reads them.
        groups: The group for each replaced parameter, by name.
    """
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        for name, (annotation, default) in options.SHARED.items()
        if name in (*shared, "json", "debug")
    ]

    def decorate(command: Callable) -> Callable:
        signature = inspect.signature(command)

        @functools.wraps(command)
        def wrapped(**values: Any) -> Any:
            configs = {name: group.collect(values) for name, group in groups.items()}
            own = {name: value for name, value in values.items() if name not in options.SHARED}
            return command(**own, **configs)

        parameters = [
            each.replace(kind=each.KEYWORD_ONLY)
            for parameter in signature.parameters.values()
            for each in (groups[parameter.name].parameters() if parameter.name in groups else [parameter])
        ] + added
        parameters.sort(key=lambda each: _FIRST.index(each.name) if each.name in _FIRST else len(_FIRST))
        setattr(wrapped, "__signature__", inspect.Signature(parameters))  # noqa: B010 (typer reads it)
        wrapped.__annotations__ = {each.name: each.annotation for each in parameters}
        return wrapped

    return decorate


def _bounds(rule: Rule) -> str:
    return "" if rule.at_least is None or rule.at_most == INFINITE else f", from {rule.at_least} to {rule.at_most}"


def _kind(rule: Rule) -> type:
    """Return the class of an option's value; `dict` for a table of numbers."""
    return typing.get_origin(rule.kinds[0]) or rule.kinds[0]


def parse_pairs(name: str, words: Sequence[str], example: str) -> dict[str, float]:
    """Parse the values of a repeatable option: `["layers.-1=1e-3"]` becomes `{"layers.-1": 0.001}`.

    Args:
        name: The option's name, for messages.
        words: Its values.
        example: A placeholder for a valid value, for messages.

    Raises:
        KerasBertError: When a value is not PART=NUMBER.
    """
    numbers = {}
    for word in words:
        part, _, number = word.rpartition("=")
        try:
            numbers[part] = float(number)
        except ValueError:
            part = ""
        if not part:
            raise KerasBertError(
                f"expected {flag(name)} as {example}, received {word!r}; write a number after the equals sign"
            )
    return numbers
