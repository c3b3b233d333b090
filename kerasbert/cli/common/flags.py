"""Arguments as Python has them, such as `label=`, to flags of the command line, such as --label-column."""

import re

from kerasbert.suggestions import nearest

_ARGUMENT = re.compile(r"`(\w+)=`")
# Library argument -> parameters of commands that set it, where the names differ; the first that a command has is meant.
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


def with_flags(message: str, command) -> str:
    """The message with every `name=` as the flag of that command. command: click's."""
    parameters = {parameter.name: parameter for parameter in command.params}

    def flag(match: re.Match) -> str:
        name = match[1]
        for other in (*_OTHER_NAMES.get(name, ()), name):
            if other in parameters:
                return _flag(parameters[other])
        return f"{name}="

    return _ARGUMENT.sub(flag, message)


def unknown_option(error: Exception) -> str:
    """What is told of an option that a command does not have; "" for any other error. error: click's."""
    name = getattr(error, "option_name", None)
    command = getattr(getattr(error, "ctx", None), "command", None)
    if type(error).__name__ != "NoSuchOption" or command is None:
        return ""
    options = {option: parameter for parameter in command.params for option in parameter.opts}
    meant = nearest(name, options)
    if meant is None:
        return f"no such option: {name}"
    parameter = options[meant]
    if meant.startswith("-"):
        return f"no such option: {name}; did you mean {meant}?"
    return f"no such option: {name}; {parameter.metavar or meant.upper()} stands without one, behind the command's name"


def _flag(parameter) -> str:
    """`--label-column`; of a positional argument what its help calls it."""
    long = [option for option in parameter.opts if option.startswith("--")]
    return long[0] if long else (parameter.metavar or parameter.name.upper())
