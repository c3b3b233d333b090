"""The command line: its commands, and the handling of their results and errors."""

import contextlib
import importlib
import json
import os
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from kerasbert.arguments import naming_options
from kerasbert.cli.arguments.flags import argument_options
from kerasbert.cli.arguments.help_text import help_text
from kerasbert.cli.outputs.results import Result
from kerasbert.cli.process.claims import claims
from kerasbert.cli.process.failures import Interrupted, explain
from kerasbert.cli.process.interrupts import handle_interrupts
from kerasbert.cli.process.quiet import quiet_libraries
from kerasbert.cli.process.standard_streams import open_closed_streams
from kerasbert.cli.process.supervision import can_supervise, supervise
from kerasbert.console.escapes import escape_controls, escape_json
from kerasbert.console.output import note, write, write_exactly
from kerasbert.console.strictness import strict
from kerasbert.files.cleanup import collect_temporary_files

_STOPPED = "stopped"


class ResultCommand(TyperCommand):
    """A command that returns a `Result`. It is printed here, and nothing else is written to stdout."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        formatter.write(help_text(self, ctx))

    def invoke(self, ctx: Any) -> int:
        stdout, as_json = sys.stdout, ctx.params["json"]
        with claims(ctx.params.get("out")) as claimed:
            try:
                with (
                    strict(bool(ctx.params.get("strict"))),
                    naming_options(argument_options(self)),
                    _requesting(ctx.params.get("folder_task"), ctx.params.get("head")),
                    contextlib.redirect_stdout(sys.stderr),
                    handle_interrupts(claimed.interruption_message),
                    collect_temporary_files(),
                ):
                    result: Result = super().invoke(ctx)
                    if result.more is not None:
                        result = result.printed(None if as_json else lambda text: write(text, stdout))
            except KeyboardInterrupt:
                raise Interrupted(claimed.interruption_message()) from None
        _print(result, as_json)
        if result.then is not None:
            _go_on(result.then)
        return result.exit_code


@contextlib.contextmanager
def _requesting(task: str | None, head: str | None) -> Iterator[None]:
    """Provide what `--task` and `--head` of a command name; without the options nothing is imported."""
    with contextlib.ExitStack() as stack:
        if task is not None:
            from kerasbert.processors.requested import requesting_task

            stack.enter_context(requesting_task(task))
        if head is not None:
            from kerasbert.heads.registry import requesting_heads

            stack.enter_context(requesting_heads(head))
        yield


class Commands(TyperGroup):
    """The group of all commands."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        formatter.write(help_text(self, ctx))


# The module of each command, in the order of the help text. The command is the function of that name.
_COMMANDS = (
    "quickstart", "pretrain", "train", "quantize", "prune", "distill", "teach", "fit", "evaluate", "predict", "compare", "diagnose",
    "convert", "inspect", "validate", "benchmark", "index", "search", "web", "setup",
)  # fmt: skip
# The groups of commands: the help text of each, and its commands with the functions of the module that has its name.
_GROUPS = {
    "show": (
        "Show what is inside a model: attention, words in context, what layers know, weights that moved, and the loss around it.",
        ("attention", "words", "layers", "changes", "landscape"),
    ),
    "zoo": ("List, show, copy and build the models that ship with the package.", ("list", "show", "get", "build")),
}


def build_app(arguments: Sequence[str] = ()) -> typer.Typer:
    """Create the application. A command imports its libraries when it runs.

    Args:
        arguments: The command line. Where it starts with the name of a command, only that one is imported.
    """
    app = typer.Typer(
        name="kerasbert",
        cls=Commands,
        help="From a BERT checkpoint to a validated int8 model on a phone.",
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_kerasbert)
    named = arguments[0] if arguments else None
    for name in (named,) if named in _COMMANDS else _COMMANDS:
        command = getattr(importlib.import_module(f"kerasbert.cli.{name}"), name)
        app.command(cls=ResultCommand)(command)
    if named not in _COMMANDS:
        for name in (named,) if named in _GROUPS else _GROUPS:
            app.add_typer(_group(name), name=name)
    return app


def _group(name: str) -> typer.Typer:
    """Create a group of commands, such as `kerasbert zoo`."""
    text, names = _GROUPS[name]
    module, group = importlib.import_module(f"kerasbert.cli.{name}"), typer.Typer(cls=Commands, help=text)
    for each in names:
        command = getattr(module, "list_models" if each == "list" else each)  # `list` is a class of Python
        group.command(each, cls=ResultCommand)(command)
    return group


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code, which is 0 only on success.

    Args:
        arguments: The command line without the program's name; None for that of the process.
    """
    if arguments is None and "stdout" in open_closed_streams():
        note("note: standard output is closed, so the result is not printed")
    if arguments is None and can_supervise(sys.argv[1:]):
        return supervise(lambda log: _run(sys.argv[1:], log))
    return _run(sys.argv[1:] if arguments is None else list(arguments))


def _run(arguments: list[str], log: int | None = None) -> int:
    """Run a command line in this process. `log` is the file descriptor for the output of native code; None discards it."""
    debug, arguments = _without_debug(arguments)
    command = typer.main.get_command(build_app(arguments))
    with quiet_libraries(debug, log):
        try:
            return command.main(arguments or ["--help"], prog_name="kerasbert", standalone_mode=False) or 0
        except BrokenPipeError:  # the reader of stdout has stopped
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 1
        except (Exception, KeyboardInterrupt) as error:
            if debug:
                write_exactly(escape_controls(traceback.format_exc(), keep_lines=True), sys.stderr)
            line, code = explain(error)
            note(line)
            return code


def _kerasbert(
    version: bool = typer.Option(
        False,
        "--version",
        is_eager=True,
        callback=lambda requested: _show_version(requested),
        help="Show the version and exit.",
    ),
) -> None:
    pass


def _show_version(requested: bool) -> None:
    if requested:
        from kerasbert import __version__

        write(f"kerasbert {__version__}")
        raise typer.Exit()


def _without_debug(arguments: list[str]) -> tuple[bool, list[str]]:
    """Remove `--debug`, which is allowed everywhere, also before the command. After `--` it is a text."""
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    others = [argument for argument in options if argument != "--debug"]
    return len(others) < len(options), others + arguments[len(options) :]


def _go_on(then: Callable[[], None]) -> None:
    """Run the part of a command that Ctrl-C ends. The command has released its outputs."""
    try:
        with handle_interrupts(lambda: _STOPPED):
            then()
    except KeyboardInterrupt:
        raise Interrupted(_STOPPED) from None


def _print(result: Result, as_json: bool) -> None:
    if as_json:
        write_exactly(escape_json(json.dumps(result.data, indent=2, ensure_ascii=False)))
    else:
        write(result.text)
