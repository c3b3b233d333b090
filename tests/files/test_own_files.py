import io
import struct
import zipfile
import zlib

import pytest

from kerasbert.errors import KerasBertError
from kerasbert.files.own_files import HOST, METADATA, MODEL, PACKED, PLOT, REPORT, check_own, is_own, mark, marked_json


def packed(name: str) -> bytes:
    stream = io.BytesIO(b"\x00\x00\x00\x00TFL3 a model")
    with zipfile.ZipFile(stream, "a") as archive:
        archive.writestr(name, "{}")
    return stream.getvalue()


def png(software: str) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", b"\0" * 13) + chunk(b"tEXt", b"Software\0" + software.encode())


OURS = {
    MODEL: packed("kerasbert.json"),
    HOST: packed("kerasbert-host.json"),
    METADATA: marked_json(METADATA, {"task": "TextClassifier"}).encode(),
    REPORT: b'<!doctype html>\n<meta charset="utf-8">\n<meta name="generator" content="kerasbert report">',
    PLOT: png(mark(PLOT)),
}
THEIRS = (
    packed("vocab.txt"), b"TFL3", b"PK\x03\x04", png("Matplotlib"), b"<html>kerasbert report</html>", b'{"kerasbert": "0.1"}',
    b'{"text": "generator kerasbert report"}', b"\xff\xfe\x00",
)  # fmt: skip


@pytest.mark.parametrize("kind", OURS)
def test_own_files_are_recognized_by_content(tmp_path, kind):
    path = tmp_path / "file"
    for other, content in OURS.items():
        path.write_bytes(content)
        assert is_own(path, kind) == (other == kind)
    for content in THEIRS:
        path.write_bytes(content)
        assert not is_own(path, kind)
        with pytest.raises(KerasBertError, match="expected a new file as --out, or one that kerasbert wrote"):
            check_own(path, kind, "--out")
    path.write_bytes(b"")
    assert is_own(path, kind)
    check_own(tmp_path / "none", kind, "--out")
    with pytest.raises(KerasBertError, match="received the folder"):
        check_own(tmp_path, kind, "--out")


def test_marks_of_kinds_are_distinct():
    assert len(set(PACKED.values())) == len(PACKED) and len({mark(kind) for kind in OURS}) == len(OURS)
