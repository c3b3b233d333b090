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


def test_tables_fit_a_terminal_and_are_whole_elsewhere(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    table = Table(("name", "text"), [("first", "some words that need more room than that")])
    plain, terminal = io.StringIO(), Terminal()
    output.write(table, plain)
    output.write(table, terminal)
    assert max(map(len, plain.getvalue().splitlines())) == 47
    assert max(map(len, terminal.getvalue().splitlines())) <= 40


def test_terminal_width_follows_the_terminal(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    controller, terminal = pty.openpty()
    with os.fdopen(controller), os.fdopen(terminal, "w") as stream:
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 91, 0, 0))
        assert output.terminal_width(stream) == 91
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 0, 0, 0, 0))
        assert output.terminal_width(stream) == 80


def test_unencodable_characters_are_escaped():
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    output.write("2.1 µs, 日本", stream)
    assert raw.getvalue() == b"2.1 \\xb5s, \\u65e5\\u672c\n"


def test_notes_are_escaped_and_go_to_the_handler(capsys):
    notes = []
    output.note("plain \x1b[31m")
    output.add_note_handler(notes.append)
    try:
        output.note("above \x9b1m")
    finally:
        output.remove_note_handler(notes.append)
    output.note("plain again")
    assert notes == ["above \\x9b1m"]
    assert capsys.readouterr().err == "plain \\x1b[31m\nplain again\n"


@pytest.mark.parametrize("stream", [None, io.StringIO()])
def test_streams_without_terminal_have_no_width(stream):
    assert output.terminal_width(stream) is None


@pytest.mark.long
def test_no_other_module_prints():
    """Exceptions are the scripts that build the shipped model, and workers whose output is captured."""
    import kerasbert
    from kerasbert import export, zoo

    folders = [Path(package.__file__).parent for package in (kerasbert, export, zoo)]
    allowed = {"output.py"}
    calls = [
        f"{path}:{node.lineno}"
        for folder in folders
        for path in folder.rglob("*.py")
        if path.name not in allowed and not path.name.endswith("_worker.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]
    assert calls == []
