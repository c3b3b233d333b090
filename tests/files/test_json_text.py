import re
from pathlib import Path

import pytest

import kerasbert as kb
from kerasbert.errors import KerasBertError
from kerasbert.files.json_text import MAX_DEPTH, parse_json, read_json, read_json_object
from kerasbert.files.read_limits import VARIABLE

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("text", "received"),
    [
        ("[" * 100_000, "more than 100 levels"),
        ('{"a":' * (MAX_DEPTH + 1) + "1" + "}" * (MAX_DEPTH + 1), "more than 100 levels"),
        ('{"a": ' + "9" * 5000 + "}", "a number of 5000 digits"),
        ("-" + "9" * 100, "a number of 101 digits"),
        ('["\\ud800"]', "half of a surrogate pair (\\ud800)"),
        ('{"\\uDFFF": 1}', "half of a surrogate pair (\\udfff)"),
        (b'{"a": "\xff"}', "byte 0xff at offset 7"),
        ("", "nothing"),
        (" \n", "nothing"),
        ("[1,]", "expecting value at column 4"),
        ('{\n"a" 1}', "at line 2, column 5"),
        ("{'a': 1}", "at column 2"),
        ('"\t"', "invalid control character at column 2"),
    ],
)
def test_invalid_json_raises_only_our_error(text, received):
    with pytest.raises(KerasBertError, match=r"^a\.json: expected JSON, received .*" + re.escape(received)):
        parse_json(text, "a.json")


def test_valid_json():
    assert parse_json(b'\xef\xbb\xbf{"a": [1, 2.5, null, true]}', "a") == {"a": [1, 2.5, None, True]}
    assert parse_json('"\\ud83d\\ude00 \\\\ud800"', "a") == "😀 \\ud800"
    assert parse_json('{"a": 1, "a": 2}', "a") == {"a": 2}
    assert parse_json("[NaN, -Infinity, 1e999]", "a")[1:] == [float("-inf"), float("inf")]
    assert parse_json("1000000000000000019884624838656", "a") == 1000000000000000019884624838656
    assert parse_json("[" * MAX_DEPTH + "]" * MAX_DEPTH, "a")
    assert parse_json("[" + "[1]," * 200 + "[1]]", "a") == [[1]] * 201


def test_duplicate_names_are_noted(capsys):
    assert parse_json('{"a": {"size": 1, "size": 2}}', "config.json of names") == {"a": {"size": 2}}
    note = "note: config.json of names: ignored all but the last value of 'size', which stands there twice"
    assert note in capsys.readouterr().err
    with kb.strict(), pytest.raises(KerasBertError, match="expected each name once in an object, received .*'size'"):
        parse_json('{"size": 1, "size": 2}', "config.json of names")


def test_duplicate_names_can_be_rejected():
    with pytest.raises(KerasBertError, match="a: expected JSON, received the name 'x' twice"):
        parse_json('[{"y": 1, "x": 1, "x": 2}]', "a", unique_names=True)


def test_memory_limit_and_its_variable(monkeypatch):
    text = "[" + "{}," * 100_000 + "{}]"
    monkeypatch.setenv(VARIABLE, "8")
    with pytest.raises(KerasBertError, match=f"a: expected content .* 8 MB of memory, .* about 2. MB; .* {VARIABLE}"):
        parse_json(text, "a")
    monkeypatch.setenv(VARIABLE, "64")
    assert len(parse_json(text, "a")) == 100_001
    monkeypatch.setenv(VARIABLE, "much")
    with pytest.raises(KerasBertError, match=f"expected {VARIABLE} as a positive whole number .*, received 'much'"):
        parse_json(text, "a")


def test_read_json_errors(tmp_path):
    path = tmp_path / "a.json"
    with pytest.raises(KerasBertError, match=r"a\.json: expected JSON, received no such file"):
        read_json(path)
    with pytest.raises(KerasBertError, match="expected JSON, received Is a directory"):
        read_json(tmp_path)
    with pytest.raises(KerasBertError, match="expected JSON, received File name too long"):
        read_json(tmp_path / ("a" * 5000))
    with pytest.raises(KerasBertError, match="expected JSON, received embedded null byte"):
        read_json(tmp_path / "a\0")
    path.write_text('{"a": 1}')
    assert read_json(path) == read_json_object(path) == {"a": 1}
    with pytest.raises(KerasBertError, match="expected JSON of at most 7 bytes, received a larger file"):
        read_json(path, max_bytes=7)
    path.write_text("[]")
    with pytest.raises(KerasBertError, match=r"a\.json: expected a JSON object, received a list"):
        read_json_object(path)


def test_only_json_text_calls_the_json_parser():
    """Direct calls of Python's parser also raise RecursionError, ValueError and UnicodeDecodeError."""
    allowed = {
        ROOT / "kerasbert/files/json_text.py",  # the only parser
        ROOT / "export/backends/subprocesses/client_worker.py",  # runs where kerasbert is not installed
    }
    call = re.compile(r"\bjson\.loads?\(|\bjson\.JSONDecoder\b|from json import")
    sources = [path for folder in ("kerasbert", "export", "zoo") for path in (ROOT / folder).rglob("*.py")]
    assert len(sources) > 100
    assert {path for path in sources if call.search(path.read_text("utf-8"))} == allowed
