"""Arguments as Python has them, such as `label=`, to flags of the command line, such as --label-column."""

import re

_ARGUMENT = re.compile(r"`(\w+)=`")
# Library argument -> parameters of commands that set it, where the names differ; the first that a command has is meant.
_OTHER_NAMES = {
    "text": ("text_column",),
    "prompt": ("text_column",),
    "pair": ("pair_column",),
    "label": ("label_column",),
    "calibration": ("calibration", "train", "data"),
    "data": ("data", "train", "file"),
    "lengths": ("length",),
    "layer_map": ("layer_map",),
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


def _flag(parameter) -> str:
    """`--label-column`; of a positional argument what its help calls it."""
    long = [option for option in parameter.opts if option.startswith("--")]
    return long[0] if long else (parameter.metavar or parameter.name.upper())
