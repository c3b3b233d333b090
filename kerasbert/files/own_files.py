"""Whether a file was written here, told by what is in it: only such a file is ever replaced."""

import json
import os
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path

from kerasbert.errors import KerasBertError

MODEL, HOST, METADATA, REPORT, SUMMARY, PLOT = "model", "host", "metadata", "report", "summary", "plot"
_GENERATOR = "kerasbert "
PACKED = {MODEL: "kerasbert.json", HOST: "kerasbert-host.json"}  # what an archive behind a .tflite file holds
_BEGINNING = 4096  # bytes in which a mark stands


def mark(kind: str) -> str:
    """What a file of that kind names as its generator."""
    return _GENERATOR + kind


def marked_json(kind: str, content: Mapping) -> str:
    """An object as JSON, indented, that says first what wrote it."""
    return json.dumps({"generator": mark(kind), **content}, indent=2, ensure_ascii=False) + "\n"


def is_own(path: str | os.PathLike, kind: str) -> bool:
    """Whether the file at `path` is of that kind and was written here. An empty file counts: nothing is lost with it."""
    path = Path(path)
    try:
        if not path.stat().st_size:
            return True
        if kind in PACKED:
            return zipfile.is_zipfile(path) and PACKED[kind] in _members(path)
        with path.open("rb") as file:
            beginning = file.read(_BEGINNING)
    except (OSError, zipfile.BadZipFile, ValueError, NotImplementedError):
        return False
    return any(re.search(pattern.replace(b"MARK", mark(kind).encode()), beginning) for pattern in _PATTERNS)


def check_own(path: str | os.PathLike, kind: str, option: str) -> None:
    """Raises KerasBertError for a file at `path` that was not written here. option: what names it to the user."""
    path = Path(path)
    if path.is_dir():
        raise KerasBertError(f"expected a file as {option}, received the folder {str(path)!r}")
    if path.exists() and not is_own(path, kind):
        raise KerasBertError(
            f"expected a new file as {option}, or one that kerasbert wrote, received {str(path)!r}, which is neither; name another, or "
            "move it away"
        )


_PATTERNS = (
    rb'\A\{\s*"generator": "MARK"',
    rb'<meta name="generator" content="MARK">',
    rb"(?s)\A\x89PNG.*Software\x00MARK",
    rb"(?s)<svg.*<dc:title>MARK</dc:title>",
)


def _members(path: Path) -> list[str]:
    with zipfile.ZipFile(path) as archive:
        return archive.namelist()
