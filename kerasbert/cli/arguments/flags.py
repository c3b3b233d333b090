"""The options of a command by the arguments of Python that they set, and the message for an unknown option."""

from typing import Any

from kerasbert.suggestions import nearest

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


def argument_options(command: Any) -> dict[str, str]:
    """Return the option of a command for each argument of the library that it sets, as messages name it.

    Args:
        command: The command, a click object.
    """
    options = {parameter.name: _flag(parameter) for parameter in command.params}
    others = {
        name: next((options[other] for other in (*chosen, name) if other in options), None)
        for name, chosen in _OTHER_NAMES.items()
    }
    return options | {name: option for name, option in others.items() if option is not None}


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
