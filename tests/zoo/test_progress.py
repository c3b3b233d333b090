"""Numbered steps on a terminal and on other streams."""

import io
import sys

import pytest

from kerasbert.zoo.progress import Steps


class Terminal(io.StringIO):
    def isatty(self):
        return True


def run(monkeypatch, stream) -> str:
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")
    steps = Steps(2)
    with steps.step("load") as step:
        step.begin("loading", 2, "files")
        step.advance(1)
        step.note("half [of] \x1b[1mit")
        step.result = "4 rows"
    with pytest.raises(ZeroDivisionError), steps.step("divide"):
        raise ZeroDivisionError
    return stream.getvalue()


def test_plain_output_consists_of_lines(monkeypatch):
    lines = run(monkeypatch, io.StringIO()).splitlines()
    assert lines[:2] == ["1/2 load ...", "    half [of] \\x1b[1mit"]
    assert lines[2].startswith("1/2 load: 4 rows (")
    assert lines[3:] == ["2/2 divide ..."], "a failed step is not reported as done"


def test_terminal_gets_a_bar_and_the_same_last_line(monkeypatch):
    output = run(monkeypatch, Terminal())
    assert "1/2 files" in output
    assert "half [of] \\x1b[1mit\n" in output
    assert "1/2 load: 4 rows (" in output
    assert "2/2 divide (" not in output
