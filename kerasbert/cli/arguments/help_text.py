"""`--help` for terminals of 80 columns, without truncated option names, values or words."""

import inspect
import re
import sys
from typing import Any

from kerasbert.console.output import terminal_width
from kerasbert.console.widths import cell_width, pad, wrap

_DEFAULT_WIDTH, _MAX_WIDTH = 80, 100  # without a terminal; longer lines are hard to read
_NAME_WIDTH = 30  # cells; a longer name has a line of its own
_EXAMPLE = "Example: "
_UNBROKEN = "\u00a0"


def help_text(command: Any, ctx: Any) -> str:
    """Return usage, description, arguments, options and commands of a command or group.

    Args:
        command: The command, a click object.
        ctx: Its click context.
    """
    width = min(terminal_width(sys.stdout) or _DEFAULT_WIDTH, _MAX_WIDTH)
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


def _metavar(argument: Any) -> str:
    return (argument.metavar or argument.name.upper()).strip("[]")


def _usage(argument: Any) -> str:
    return _metavar(argument) if argument.required else f"[{_metavar(argument)}]"


def _record(param: Any, ctx: Any) -> tuple[str, str]:
    names, text = param.get_help_record(ctx)
    return names.replace(" / ", "/"), re.sub(r" *\[([^][]*)\]$", lambda match: _sentence(match[1]), text)


def _sentence(facts: str) -> str:
    """Return click's `default: 1; x>=1` as a sentence, ` Default: 1, at least 1.`."""
    *rest, last = facts.split("; ")
    required = " [required]" if last == "required" else ""
    facts = ", ".join(rest if required else [*rest, last])
    facts = re.sub(r"([-.\d]+)<=x<=([-.\d]+)", r"from \1 to \2", facts)
    facts = re.sub(r"x>=([-.\d]+)", r"at least \1", facts).replace(" ", _UNBROKEN)
    return (f" {facts[:1].upper()}{facts[1:]}." if facts else "") + required


def _summary(command: Any) -> str:
    """Return the first sentence of a command's help."""
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
    """Format names and their descriptions in two columns."""
    column = max([cell_width(name) for name, _ in rows if cell_width(name) <= _NAME_WIDTH], default=_NAME_WIDTH) + 4
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
