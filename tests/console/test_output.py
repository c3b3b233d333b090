import fcntl
import io
import os
import pty
import struct
import termios

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
