"""`--help` of every command on a terminal of 80 columns."""

import re

import pytest
import typer

from kerasbert.cli.app import build_app
from kerasbert.cli.arguments.help_text import help_text

GROUP = typer.main.get_command(build_app())


@pytest.mark.parametrize("name", GROUP.commands)
def test_nothing_is_truncated_at_80_columns(run, name):
    shown = run(name, "--help").out
    assert max(map(len, shown.splitlines())) <= 80
    words = set(shown.split())
    for param in GROUP.commands[name].params:
        for option in param.opts if param.param_type_name == "option" else ():
            assert any(option in word.strip(",").split("/") for word in words), option
        assert not param.metavar or set(param.metavar.strip("[]").split()) <= words
    assert "…" not in shown and "─" not in shown


def test_words_with_hyphens_and_defaults_stay_whole(run):
    shown = run("train", "--help").out
    assert {"multiple-choice,", "in-batch-negatives."} <= set(shown.split())
    assert "Default: 512, at least 1." in run("convert", "--help").out
    assert "Default: 0.5, from 0 to 1." in " ".join(run("prune", "--help").out.split())


def test_an_example_can_be_pasted(run):
    shown = run("convert", "--help").out
    example = re.search(r"Example: ((?:.*\\\n)*.*)", shown)[1]
    pasted = " ".join(example.replace("\\\n", " ").split())
    assert pasted == "kerasbert convert runs/mine-int8 --recipe static_wi8_ai8 --target cpu -o model.tflite"


def test_commands_are_listed_with_their_whole_first_sentence(run):
    listed = " ".join(run("--help").out.split())
    assert (
        "prune Prune a saved model's smallest weights, layers, heads, neurons, hidden size or tokens, or factorize its matrices."
        in listed
    )
    assert "..." not in listed.partition("Commands:")[2]


def test_arguments_are_shown_by_their_names():
    usages = {name: help_text(each, _context(name, each)).splitlines()[0] for name, each in GROUP.commands.items()}
    assert usages["train"] == "Usage: kerasbert train [OPTIONS] [CONFIG.TOML]"
    assert usages["convert"] == "Usage: kerasbert convert [OPTIONS] FOLDER"
    assert usages["predict"] == "Usage: kerasbert predict [OPTIONS] MODEL [TEXT...]"


def _context(name, command):
    return command.make_context(f"kerasbert {name}", [], resilient_parsing=True)
