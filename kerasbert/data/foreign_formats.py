"""Formats of files that are no text, by their first bytes or their suffix, with what to do about each."""

import codecs
from pathlib import Path

# First bytes -> the format, and what to do. A suffix decides where a format has no bytes of its own.
_EXCEL = "an Excel workbook", "export it as .csv"
_WORD = "a Word document", "save it as plain text (.txt)"
_PARQUET = (
    "a Parquet file",
    "write it as JSON lines, such as with pandas: read_parquet(file).to_json('data.jsonl', orient='records', lines=True)",
)
_ARROW = "an Arrow file", "write it as JSON lines, such as with datasets: Dataset.from_file(file).to_json('data.jsonl')"
_ZIP = "a zip archive", "unpack it"
_BYTES = {
    b"PK\x03\x04": _ZIP,
    b"PAR1": _PARQUET,
    b"ARROW1": _ARROW,
    b"\xff\xff\xff\xff": _ARROW,
    b"%PDF": ("a PDF document", "extract its text"),
    b"\xd0\xcf\x11\xe0": ("a document of old Office programs", "export it as .csv or .txt"),
    b"\x1f\x8b": ("compressed with gzip", "end its name in .gz"),
    b"BZh": ("compressed with bzip2", "decompress it, or compress it with gzip"),
    b"\xfd7zXZ\x00": ("compressed with xz", "decompress it, or compress it with gzip"),
    b"\x28\xb5\x2f\xfd": ("compressed with zstd", "decompress it, or compress it with gzip"),
    b"version https://git-lfs": ("a pointer of Git LFS", "fetch the file itself with git lfs pull"),
    b"<!DOCTYPE html": ("a page of HTML", "download the file itself"),
    b"<!doctype html": ("a page of HTML", "download the file itself"),
    b"<html": ("a page of HTML", "download the file itself"),
    b"SQLite format 3": ("an SQLite database", "export a table as .csv"),
    b"\x93NUMPY": ("a NumPy array", "write texts to a .tsv, .csv or .jsonl file"),
    b"\x80\x04\x95": ("a pickle, which is not opened as it may run code", "write it as .tsv, .csv or .jsonl"),
    b"\x80\x05\x95": ("a pickle, which is not opened as it may run code", "write it as .tsv, .csv or .jsonl"),
}
_SUFFIXES = {
    ".xlsx": _EXCEL, ".xlsm": _EXCEL, ".xls": _EXCEL, ".ods": ("an OpenDocument spreadsheet", "export it as .csv"),
    ".docx": _WORD, ".doc": _WORD, ".odt": ("an OpenDocument text", "save it as plain text (.txt)"),
    ".parquet": _PARQUET, ".arrow": _ARROW, ".feather": _ARROW,
    ".pkl": _BYTES[b"\x80\x04\x95"], ".pickle": _BYTES[b"\x80\x04\x95"], ".pdf": _BYTES[b"%PDF"],
    ".npy": _BYTES[b"\x93NUMPY"], ".npz": _BYTES[b"\x93NUMPY"],
    ".zip": _ZIP, ".bz2": _BYTES[b"BZh"], ".xz": _BYTES[b"\xfd7zXZ\x00"], ".zst": _BYTES[b"\x28\xb5\x2f\xfd"],
    ".json": ("a JSON document", "write one object on each line, and name it .jsonl"),
    ".xml": ("an XML file", "write its texts to a .tsv, .csv or .jsonl file"),
}  # fmt: skip


def foreign_suffix(path: Path) -> tuple[str, str] | None:
    """Return what a file is by its suffix, and what to do; None if it may be a text file.

    Args:
        path: The file.
    """
    return _SUFFIXES.get(Path(path.name.removesuffix(".gz")).suffix.lower())


def foreign_content(path: Path, head: bytes) -> tuple[str, str] | None:
    """Return what a file is by its first bytes, and what to do; None if it may be a text file.

    Args:
        path: The file.
        head: Its first bytes.
    """
    if head.startswith(codecs.BOM_UTF32_LE):  # begins like UTF-16
        return None
    found = next((kind for start, kind in _BYTES.items() if head.startswith(start)), None)
    return (foreign_suffix(path) or found) if found is _ZIP else found  # Office files are zip archives
