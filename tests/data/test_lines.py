"""Limits on decompressed size and line length."""

import gzip
import io
import json

import pytest

from kerasbert.data import read_choices, read_conll, read_squad, read_table, read_text
from kerasbert.data.lines import read_lines, read_stream_lines, read_whole
from kerasbert.errors import KerasBertError
from kerasbert.files.read_limits import VARIABLE

MB = 1 << 20


def packed(path, content: bytes):
    path.write_bytes(gzip.compress(content, mtime=0))
    return path


@pytest.mark.long_cases("a.tsv", "a.jsonl")
@pytest.mark.parametrize(
    ("name", "read", "content"),
    [
        ("a.tsv.gz", read_table, b"text\tlabel\n" + b"a\tb\n" * 200_000),
        ("a.csv.gz", read_table, b"text,label\n" + b"a,b\n" * 200_000),
        ("a.jsonl.gz", read_table, b'{"text": "a"}\n' * 200_000),
        ("a.tsv.gz", read_table, b"text\n" + b"\n" * 200_000),
        ("a.conll.gz", read_conll, b"a\tO\nb\tO\n\n" * 150_000),
        ("a.txt.gz", read_text, b"a\n" * 200_000),
        ("a.jsonl.gz", read_choices, b'{"prompt": "p", "choices": ["a"]}\n' * 200_000),
        ("a.json.gz", read_squad, b'{"data": [' + b"[]," * 3_000_000 + b"[]]}"),
        ("a.json.gz", read_squad, b'{"data": "' + b"a" * 20_000_000 + b'"}'),
    ],
)
def test_decompressed_size_is_limited(tmp_path, monkeypatch, name, read, content):
    path = packed(tmp_path / name, content)
    assert path.stat().st_size < 40_000
    monkeypatch.setenv(VARIABLE, "32")
    with pytest.raises(KerasBertError, match=f"at most 32 MB of memory, .* set {VARIABLE} to a larger number"):
        read(path)


def test_the_limit_can_be_raised(tmp_path, monkeypatch):
    path = packed(tmp_path / "a.tsv.gz", b"text\tlabel\n" + b"a\tb\n" * 200_000)
    monkeypatch.setenv(VARIABLE, "64")
    assert len(read_table(path)) == 200_000


def test_line_length_is_limited_in_plain_files_too(tmp_path, monkeypatch):
    path = tmp_path / "a.tsv"
    path.write_bytes(b"text\tlabel\n" + b"a" * (2 * MB) + b"\tb\n")
    monkeypatch.setenv(VARIABLE, "16")
    with pytest.raises(KerasBertError, match=rf"a\.tsv, line 2: expected a line of at most 1 MB, .* set {VARIABLE}"):
        read_table(path)
    monkeypatch.setenv(VARIABLE, "64")
    assert len(read_table(path).texts[0]) == 2 * MB


def test_a_plain_file_of_any_size_is_read(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, "1")
    path = tmp_path / "a.txt"
    path.write_bytes(b"a b\n" * 100_000)
    assert len(read_text(path)) == 100_000
    question = {"question": "q", "context": "a b", "answers": {"text": ["a"], "answer_start": [0]}}
    path = tmp_path / "a.json"
    path.write_text(json.dumps([question] * 20_000))
    assert path.stat().st_size > MB and len(read_squad(path)) == 20_000


def test_lines_and_whole_files_have_the_same_text(tmp_path):
    content = "\ufeffa\r\n\nb\u2028c\nd".encode()
    for path in (packed(tmp_path / "a.txt.gz", content), tmp_path / "a.txt"):
        if path.suffix == ".txt":
            path.write_bytes(content)
        assert list(read_lines(path)) == [(1, "a\r\n"), (2, "\n"), (3, "b\u2028c\n"), (4, "d")]
        assert read_whole(path) == "a\r\n\nb\u2028c\nd"
    (tmp_path / "b.txt").write_bytes(b"a\nb\xff\n")
    for read in (read_whole, lambda path: list(read_lines(path))):
        with pytest.raises(KerasBertError, match="byte 0xff on line 2, at offset 1 of it"):
            read(tmp_path / "b.txt")


class Endless(io.RawIOBase):
    """A stream that repeats the same bytes without an end."""

    def __init__(self, block):
        self.block, self.count = block, 0

    def readable(self):
        return True

    def readinto(self, buffer):
        size = min(len(buffer), len(self.block))
        buffer[:size] = self.block[:size]
        self.count += size
        return size


@pytest.mark.parametrize(
    ("block", "message"), [(b"a" * 65_536, "line 1: expected a line of at most"), (b"ab\n" * 9999, "stdin: expected")]
)
def test_a_stream_without_an_end_stays_within_the_memory_limit(monkeypatch, block, message):
    monkeypatch.setenv(VARIABLE, "16")
    stream = Endless(block)
    with pytest.raises(KerasBertError, match=f"{message}.*{VARIABLE}"):
        list(read_stream_lines(stream, "stdin"))
    assert stream.count < 16 * MB and not stream.closed


def test_lines_of_a_stream():
    stream = io.BytesIO(b"\xef\xbb\xbfa\r\nb\n\nc")
    assert list(read_stream_lines(stream, "stdin")) == [(1, "a\r\n"), (2, "b\n"), (3, "\n"), (4, "c")]
    assert not stream.closed
    with pytest.raises(
        KerasBertError, match="expected UTF-8 in stdin, received byte 0xff on line 2, at offset 1 of it"
    ):
        list(read_stream_lines(io.BytesIO(b"a\nb\xff\n"), "stdin"))


def test_first_lines_of_a_stream_need_no_end():
    lines = read_stream_lines(Endless(b"ab\n" * 9999), "stdin")
    assert [next(lines) for _ in range(2)] == [(1, "ab\n"), (2, "ab\n")]
