"""Encodings and line ends of data files, and files that are no text."""

import gzip
import io
import zipfile

import pytest

from kerasbert.data import read_choices, read_conll, read_squad, read_table, read_text
from kerasbert.data.lines import read_lines
from kerasbert.errors import KerasBertError

TABLE = "text,label\nüber €,a\nstürzt,b\n"


@pytest.mark.parametrize(
    "encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252", "cp037", "iso8859-15"]
)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("suffix", [".csv", ".csv.gz"])
def test_encodings_and_line_ends(tmp_path, encoding, end, suffix):
    table = TABLE.replace("€", "x") if encoding == "cp037" else TABLE
    content = table.replace("\n", end).encode(encoding)
    path = tmp_path / f"a{suffix}"
    path.write_bytes(gzip.compress(content) if suffix.endswith(".gz") else content)
    marked = encoding in ("utf-8-sig", "utf-16", "utf-32")
    read = read_table(path, encoding=None if marked else encoding)
    assert read.texts == [table.split("\n")[1].removesuffix(",a"), "stürzt"] and read.labels == ["a", "b"]
    assert read.lines == [2, 3]


@pytest.mark.parametrize(
    ("read", "name", "content", "first"),
    [
        (read_text, "a.txt", "ä b\nc\n", "ä b"),
        (read_conll, "a.conll", "ä B-X\nb O\n", ["ä", "b"]),
        (read_conll, "a.jsonl", '{"words": ["ä"], "tags": ["O"]}\n', ["ä"]),
        (read_choices, "a.jsonl", '{"prompt": "ä", "choices": ["x", "y"]}\n', ("ä", ("x", "y"))),
        (read_squad, "a.json", '[{"question": "ä", "context": "c"}]', ("ä", "c")),
        (read_squad, "a.jsonl", '{"question": "ä", "context": "c"}', ("ä", "c")),
    ],
)
def test_every_reader_takes_an_encoding(tmp_path, read, name, content, first):
    path = tmp_path / name
    path.write_bytes(content.encode("latin-1"))
    assert read(path, encoding="latin-1").x[0] == first
    with pytest.raises(
        KerasBertError, match="expected UTF-8 in .*received byte 0xe4 on line 1.*`encoding=`, such as cp1252"
    ):
        read(path)
    path.write_bytes(content.encode("utf-16"))
    assert read(path).x[0] == first


@pytest.mark.parametrize(
    ("content", "encoding", "message"),
    [
        (
            TABLE.encode("utf-16-le"),
            None,
            "received bytes of 0 as in UTF-16; name it with `encoding=`, such as utf-16-le",
        ),
        (TABLE.encode("utf-16-be"), None, "such as utf-16-be"),
        (TABLE.encode("utf-16"), "cp1252", "expected cp1252, received a file that begins with the mark of UTF-16"),
        (TABLE.encode("utf-8-sig"), "cp1252", "begins with the mark of UTF-8; leave `encoding=` out"),
        (b"text,label\n\x81,a\n", "cp1252", "expected CP1252 in .*received byte 0x81 on line 2"),
        (TABLE.encode("utf-16")[:-1], None, "expected UTF-16 in .*received other bytes"),
        (b"", "utf-99", "expected an encoding such as utf-8, utf-16 or cp1252, received 'utf-99'"),
        (b"", "base64", "expected an encoding"),
        (b"", 3, "expected an encoding .*received 3"),
    ],
)
def test_wrong_encodings_raise(tmp_path, content, encoding, message):
    (tmp_path / "a.csv").write_bytes(content)
    with pytest.raises(KerasBertError, match=message):
        read_table(tmp_path / "a.csv", encoding=encoding)


def test_a_carriage_return_within_a_line_stays(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"a\rb\nc\n")
    assert [line for _, line in read_lines(tmp_path / "a.txt")] == ["a\rb\n", "c\n"]


def test_long_files_with_carriage_returns(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"\r".join(b"%d" % number * 99 for number in range(2000)))
    lines = list(read_lines(tmp_path / "a.txt"))
    assert lines[-1] == (2000, "1999" * 99) and lines[700] == (701, "700" * 99 + "\n")


def zipped():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("content.xml", "x")
    return file.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.xlsx", None, "an Excel workbook; export it as .csv"),
        ("a.parquet", None, "a Parquet file; write it as JSON lines"),
        ("a.docx", None, "a Word document; save it as plain text"),
        ("a.csv", "zip", "a zip archive; unpack it"),
        ("a.csv", b"PAR1....", "a Parquet file"),
        ("a.tsv", b"%PDF-1.7", "a PDF document"),
        ("a.jsonl", gzip.compress(b"{}", mtime=0), "compressed with gzip; end its name in .gz"),
        ("a.csv", b"SQLite format 3\0", "an SQLite database"),
        ("a.csv", b"version https://git-lfs.github.com/spec/v1\n", "a pointer of Git LFS; fetch the file itself"),
        ("a.csv", b"<!DOCTYPE html><html>", "a page of HTML; download the file itself"),
    ],
)
def test_files_that_are_no_text_are_named(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(zipped() if content in (None, "zip") else content)
    with pytest.raises(KerasBertError, match=message):
        read_table(tmp_path / name)
    (tmp_path / name).rename(tmp_path / "b.txt")
    if content is not None:
        with pytest.raises(KerasBertError, match=message):
            read_text(tmp_path / "b.txt")


def test_a_table_in_a_json_document_is_refused_with_advice(tmp_path):
    (tmp_path / "a.json").write_text('[{"text": "a"}]')
    with pytest.raises(KerasBertError, match="a JSON document; write one object on each line, and name it .jsonl"):
        read_table(tmp_path / "a.json")


@pytest.mark.parametrize("max_rows", ["3", 0, -1, 1.5, True])
@pytest.mark.parametrize("read", [read_table, read_text, read_conll, read_squad, read_choices])
def test_max_rows_is_a_whole_number(tmp_path, read, max_rows):
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n')
    with pytest.raises(KerasBertError, match=f"expected max_rows .*received {max_rows!r}; give a whole number"):
        read(tmp_path / "a.jsonl", max_rows=max_rows)
