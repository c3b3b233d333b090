"""Steps on a terminal and elsewhere."""

import io

import pytest
from rich.console import Console

from kerasbert.zoo.progress import Steps


def run(terminal: bool) -> str:
    shown = io.StringIO()
    steps = Steps(2, Console(file=shown, force_terminal=terminal, width=100, highlight=False, color_system=None))
    with steps.step("load") as step:
        step.advance(1, 2)
        step.note("half [of] it")
        step.result = "4 rows"
    with pytest.raises(ZeroDivisionError), steps.step("divide"):
        raise ZeroDivisionError
    return shown.getvalue()


def test_plain_output_is_lines_alone():
    lines = run(terminal=False).splitlines()
    assert lines[:2] == ["1/2 load ...", "    half [of] it"]
    assert lines[2].startswith("1/2 load: 4 rows (")
    assert lines[3:] == ["2/2 divide ..."], "a step that failed is not reported as done"


def test_a_terminal_gets_a_bar_and_the_same_last_line():
    shown = run(terminal=True)
    assert "50%" in shown
    assert "half [of] it" in shown
    assert "1/2 load: 4 rows (" in shown
    assert "2/2 divide (" not in shown
