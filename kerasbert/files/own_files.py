"""Recognition of files that kerasbert wrote, by their content. Only such files are ever replaced."""

import json
import os
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kerasbert.errors import KerasBertError

MODEL, HOST, METADATA, REPORT, SUMMARY, PLOT = "model", "host", "metadata", "report", "summary", "plot"
SITE, INDEX = "site", "index"
_GENERATOR = "kerasbert "
PACKED = {
    MODEL: "kerasbert.json",
    HOST: "kerasbert-host.json",
}  # kind -> member of the archive appended to a .tflite file
_HEAD_BYTES = 4096  # a mark is within these first bytes


def mark(kind: str) -> str:
    """Return the generator name that marks a file of that kind."""
    return _GENERATOR + kind


def marked_json(kind: str, content: Mapping[str, Any]) -> str:
    """Return an object as indented JSON whose first key marks it as ours."""
    return json.dumps({"generator": mark(kind), **content}, indent=2, ensure_ascii=False) + "\n"


def is_own(path: str | os.PathLike, kind: str) -> bool:
    """Return True if kerasbert wrote the file, and it is of that kind. An empty file counts: replacing it loses nothing."""
    path = Path(path)
    try:
        if not path.stat().st_size:
            return True
        if kind in PACKED:
            return zipfile.is_zipfile(path) and PACKED[kind] in _member_names(path)
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
    except (OSError, zipfile.BadZipFile, ValueError, NotImplementedError):
        return False
    if kind in _STARTS:
        return head.startswith(_STARTS[kind])
    return any(re.search(pattern.replace(b"MARK", mark(kind).encode()), head) for pattern in _PATTERNS)


def check_own(path: str | os.PathLike, kind: str, option: str) -> None:
    """Check that a file may be written: it does not exist, or kerasbert wrote it.

    Args:
        path: the file.
        kind: its kind, such as `MODEL`.
        option: the file's role in the user's words, such as `--out`; for the error.

    Raises:
        KerasBertError: when the path is a folder, or a file that kerasbert did not write.
    """
    path = Path(path)
    if path.is_dir():
        raise KerasBertError(f"expected a file as {option}, received the folder {str(path)!r}; name a file in it")
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
_STARTS = {INDEX: b"KBSI"}  # of binary files


def _member_names(path: Path) -> list[str]:
    with zipfile.ZipFile(path) as archive:
        return archive.namelist()
