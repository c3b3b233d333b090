"""The reader of the index of a search."""

import tempfile
import zlib
from pathlib import Path

import numpy as np

from benchmarks.robustness.fuzz_targets.target import Target, try_all


def _index(folder: Path) -> None:
    """Read an index as it is, and with checksums that fit the damaged content, so that what stands behind them is tried too."""
    path = folder / "a.kbindex"
    content = path.read_bytes()

    def use() -> None:
        from kerasbert.retrieval.index_file import read_index, write_index

        info, projection, rows = read_index(path)
        texts = [(rows.text(row), rows.names[rows.documents[row]], rows.starts[row]) for row in range(len(rows))]
        assert len(texts) == len(rows.vectors.values)
        if len(rows):
            rows.vectors.search(rows.vectors, 3)
        write_index(folder / "again.kbindex", info, projection, rows)

    def use_repaired() -> None:
        path.write_bytes(_with_checksums(content))
        use()

    try_all(use_repaired, use)


def _with_checksums(content: bytes) -> bytes:
    """An index with the checksum that each section's content has."""
    repaired, place = bytearray(content), 8
    while place + 16 <= len(content):
        length = int.from_bytes(content[place + 8 : place + 16], "little")
        section = content[place + 16 : place + 16 + length]
        if len(section) < length:
            break
        repaired[place + 4 : place + 8] = zlib.crc32(section).to_bytes(4, "little")
        place += 16 + length + -length % 8
    return bytes(repaired)


def _indexes() -> list[dict[str, bytes]]:
    from kerasbert.retrieval.index_file import IndexInfo, write_index
    from kerasbert.retrieval.rows import Rows
    from kerasbert.retrieval.stored_vectors import BIT, INT8, StoredVectors

    draw, made = np.random.default_rng(0), []
    for form, projected in ((INT8, False), (BIT, False), (INT8, True)):
        info = IndexInfo("vectors of x", "search", 12 if projected else 8, 8, form, 128, 16)
        vectors = StoredVectors.of(draw.normal(size=(3, 8)).astype(np.float32), form)
        rows = Rows.of(vectors, ["film", "é good", "東 x"], [0, 0, 1], [0, 4, 0], ["a.txt", "b"], [1, 2])
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "a.kbindex"
            write_index(path, info, draw.normal(size=(12, 8)) if projected else None, rows)
            made.append({"a.kbindex": path.read_bytes()})
    return made


TARGETS = [Target(".kbindex", _index, _indexes)]
