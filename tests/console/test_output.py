import ast
import fcntl
import io
import os
import pty
import struct
import termios
from pathlib import Path

import pytest

from kerasbert.console import output
from kerasbert.console.tables import Table


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_gets_its_width_and_anything_else_the_whole_table(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    table = Table(("name", "text"), [("first", "some words that need more room than that")])
    plain, terminal = io.StringIO(), Terminal()
    output.write(table, plain)
    output.write(table, terminal)
    assert max(map(len, plain.getvalue().splitlines())) == 47
    assert max(map(len, terminal.getvalue().splitlines())) <= 40


def test_the_width_is_the_terminals(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    ours, theirs = pty.openpty()
    with os.fdopen(ours), os.fdopen(theirs, "w") as stream:
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 91, 0, 0))
        assert output.terminal_width(stream) == 91
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 0, 0, 0, 0))
        assert output.terminal_width(stream) == 80


def test_what_an_encoding_lacks_is_escaped():
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    output.write("2.1 µs, 日本", stream)
    assert raw.getvalue() == b"2.1 \\xb5s, \\u65e5\\u672c\n"


def test_notes_are_escaped_and_go_above_a_bar(capsys):
    taken = []
    output.note("plain \x1b[31m")
    output.take_notes(taken.append)
    try:
        output.note("above \x9b1m")
    finally:
        output.leave_notes(taken.append)
    output.note("plain again")
    assert taken == ["above \\x9b1m"]
    assert capsys.readouterr().err == "plain \\x1b[31m\nplain again\n"


@pytest.mark.parametrize("stream", [None, io.StringIO()])
def test_no_terminal_has_no_width(stream):
    assert output.terminal_width(stream) is None


def test_nothing_else_prints():
    """Scripts that build the shipped model, and children whose output is caught, are no part of it."""
    import kerasbert
    from kerasbert import export, zoo

    folders = [Path(package.__file__).parent for package in (kerasbert, export, zoo)]
    allowed = {"output.py", "build_small.py", "measure_small.py"}
    found = [
        f"{path}:{node.lineno}"
        for folder in folders
        for path in folder.rglob("*.py")
        if path.name not in allowed and not path.name.endswith("_worker.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]
    assert found == []
