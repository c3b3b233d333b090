import json

import pytest

from kerasbert.console.escapes import escape_controls, escape_json


@pytest.mark.parametrize(
    ("raw", "visible"),
    [
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("a\nb\tc\rd", "a\\nb\\tc\\rd"),
        ("\x00\x07\x7f", "\\x00\\x07\\x7f"),
        ("\x9b31m", "\\x9b31m"),  # CSI in one character
        ("safe\u202egpj.exe\u2069", "safe\\u202egpj.exe\\u2069"),
        ("\u2028\u2029\ufeff", "\\u2028\\u2029\\ufeff"),
        ("\ud83d", "\\ud83d"),
        ("naïve 日本語 👩\u200d💻 a\\x1b \u00a0", "naïve 日本語 👩\u200d💻 a\\x1b \u00a0"),
    ],
)
def test_only_control_characters_are_escaped(raw, visible):
    assert escape_controls(raw) == visible


def test_keep_lines():
    assert escape_controls("a\tb\n\r\x1bc", keep_lines=True) == "a\tb\n\\r\\x1bc"


def test_escaped_json_keeps_its_values():
    value = {"text": "\x1b \x9b \u202e \u2028 \ud800 \n 日本 😀", "\x85": ["\x7f"]}
    text = escape_json(json.dumps(value, indent=2, ensure_ascii=False))
    assert json.loads(text) == value
    assert escape_controls(text, keep_lines=True) == text
    assert "日本 😀" in text
