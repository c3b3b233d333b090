"""`--help` as text that a terminal of 80 columns holds: no option name, value or word is cut."""

import inspect
import re
import sys

from kerasbert.console.output import terminal_width
from kerasbert.console.widths import cell_width, pad, wrap

_DEFAULT_WIDTH, _WIDEST = 80, 100  # without a terminal; and lines that are read with ease
_NAMES = 30  # cells; a longer name stands on a line of its own
_EXAMPLE = "Example: "
_UNBROKEN = "\u00a0"


def help_text(command, ctx) -> str:
    """A command's or a group's usage, description, arguments, options and commands.

    Args:
        command: of typer; its parameters tell their names and helps.
        ctx: the context that it is called in.
    """
    width = min(terminal_width(sys.stdout) or _DEFAULT_WIDTH, _WIDEST)
    arguments = [param for param in command.params if param.param_type_name == "argument"]
    options = [param for param in command.get_params(ctx) if param.param_type_name == "option"]
    commands = getattr(command, "commands", {})
    usage = [
        "Usage:",
        ctx.command_path,
        "[OPTIONS]",
        *map(_usage, arguments),
        *(["COMMAND", "..."] if commands else []),
    ]
    sections = {
        "Arguments": [(_metavar(param), _record(param, ctx)[1]) for param in arguments],
        "Options": [_record(param, ctx) for param in options],
        "Commands": [(name, _summary(each)) for name, each in commands.items()],
    }
    parts = [" ".join(usage), _description(command.help or "", width)]
    parts += [f"{title}:\n{_definitions(rows, width)}" for title, rows in sections.items() if rows]
    return "\n\n".join(parts).replace(_UNBROKEN, " ") + "\n"


def _metavar(argument) -> str:
    return (argument.metavar or argument.name.upper()).strip("[]")


def _usage(argument) -> str:
    return _metavar(argument) if argument.required else f"[{_metavar(argument)}]"


def _record(param, ctx) -> tuple[str, str]:
    names, text = param.get_help_record(ctx)
    return names.replace(" / ", "/"), re.sub(r" *(\[[^][]*\])$", lambda match: f" {_facts(match[1])}", text)


def _facts(brackets: str) -> str:
    """`[default: 1; x>=1]` in words and on one line."""
    brackets = re.sub(r"([-.\d]+)<=x<=([-.\d]+)", r"from \1 to \2", brackets)
    return re.sub(r"x>=([-.\d]+)", r"at least \1", brackets).replace(" ", _UNBROKEN)


def _summary(command) -> str:
    """The first sentence of a command's help."""
    first = _paragraphs(command.help or "")[0]
    return re.split(r"(?<=[.;]) ", first)[0].rstrip(".;") + "."


def _description(text: str, width: int) -> str:
    blocks = []
    for paragraph in _paragraphs(text):
        if paragraph.startswith(_EXAMPLE):
            first, *rest = wrap(re.sub(r" (-[^ ]+) (?=[^-])", rf" \1{_UNBROKEN}", paragraph), width - 4)
            blocks.append(" \\\n".join([f"  {first}", *(f"    {line}" for line in rest)]))
        else:
            blocks.append("\n".join(f"  {line}" for line in wrap(paragraph, width - 2)))
    return "\n\n".join(blocks)


def _paragraphs(text: str) -> list[str]:
    return [" ".join(part.split()) for part in re.split(r"\n\s*\n", inspect.cleandoc(text))]


def _definitions(rows: list[tuple[str, str]], width: int) -> str:
    """Names, and beside them what they mean."""
    column = max([cell_width(name) for name, _ in rows if cell_width(name) <= _NAMES], default=_NAMES) + 4
    lines = []
    for name, text in rows:
        texts = wrap(text, width - column)
        if cell_width(name) + 4 > column:
            lines.append(f"  {name}")
            lines += [" " * column + each for each in texts]
        else:
            lines.append(pad(f"  {name}", column) + texts[0])
            lines += [" " * column + each for each in texts[1:]]
    return "\n".join(line.rstrip() for line in lines)
