"""Converts arguments of Python in messages, such as `label=`, to command line options, such as --label-column."""

import re
from typing import Any

from kerasbert.suggestions import nearest

_ARGUMENT = re.compile(r"`(\w+)=`")
# Library argument -> command parameters that set it under another name; the first one that a command has is used.
_OTHER_NAMES = {
    "text": ("text_column",),
    "prompt": ("text_column",),
    "pair": ("pair_column",),
    "label": ("label_column",),
    "calibration": ("calibration", "train", "data"),
    "data": ("data", "train", "file"),
    "tolerance": ("max_error",),
    "recipe": ("recipe",),
}


def with_flags(message: str, command: Any) -> str:
    """Return a message with every `name=` replaced by the command's option.

    Args:
        message: The message of an error.
        command: The command, a click object.
    """
    parameters = {parameter.name: parameter for parameter in command.params}

    def flag(match: re.Match) -> str:
        name = match[1]
        for other in (*_OTHER_NAMES.get(name, ()), name):
            if other in parameters:
                return _flag(parameters[other])
        return f"{name}="

    return _ARGUMENT.sub(flag, message)


def describe_unknown_option(error: Exception) -> str:
    """Return a message for an option that the command does not have, or "" for any other error.

    Args:
        error: An error of click.
    """
    name = getattr(error, "option_name", "")
    command = getattr(getattr(error, "ctx", None), "command", None)
    if type(error).__name__ != "NoSuchOption" or command is None:
        return ""
    options = {option: parameter for parameter in command.params for option in parameter.opts}
    suggestion = nearest(name, options)
    if suggestion is None:
        return f"no such option: {name}"
    parameter = options[suggestion]
    if suggestion.startswith("-"):
        return f"no such option: {name}; did you mean {suggestion}?"
    argument = parameter.metavar or suggestion.upper()
    return f"no such option: {name}; {argument} is an argument, give it without an option name"


def _flag(parameter: Any) -> str:
    """Return `--label-column`, or the placeholder of a positional argument."""
    long = [option for option in parameter.opts if option.startswith("--")]
    return long[0] if long else (parameter.metavar or parameter.name.upper())
