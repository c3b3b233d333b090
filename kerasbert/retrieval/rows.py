"""The rows of an index: texts, where each stands in its document, and their vectors."""

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from kerasbert.retrieval.stored_vectors import StoredVectors


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows in their order. Texts stand in one byte string, so that a million of them take little memory.

    Attributes:
        vectors: The vectors of the rows.
        documents: The number of each row's document, int32 `(rows,)`.
        starts: The character of its document at which each text starts, int64 `(rows,)`.
        ends: The byte of `texts` behind each text, int64 `(rows,)`.
        texts: All texts in UTF-8.
        names: The names of the documents.
        checksums: The CRC-32 of each document's whole text, uint32 `(documents,)`.
    """

    vectors: StoredVectors
    documents: np.ndarray
    starts: np.ndarray
    ends: np.ndarray
    texts: bytes
    names: tuple[str, ...]
    checksums: np.ndarray

    @classmethod
    def none(cls, dimensions: int) -> Self:
        """Return no rows."""
        return cls.of(StoredVectors(np.zeros((0, dimensions), np.int8), np.zeros(0, np.float32)), [], [], [], [], [])

    @classmethod
    def of(
        cls,
        vectors: StoredVectors,
        texts: Sequence[str],
        documents: Sequence[int],
        starts: Sequence[int],
        names: Sequence[str],
        checksums: Sequence[int],
    ) -> Self:
        """Return rows of texts; the arguments are as the attributes."""
        encoded = [text.encode("utf-8") for text in texts]
        ends = np.cumsum([len(text) for text in encoded], dtype=np.int64)
        return cls(
            vectors, np.array(documents, np.int32), np.array(starts, np.int64), ends, b"".join(encoded), tuple(names),
            np.array(checksums, np.uint32),
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.ends)

    def text(self, row: int) -> str:
        """Return the text of a row."""
        return self.texts[self._begin(row) : self.ends[row]].decode("utf-8")

    @classmethod
    def all_of(cls, parts: "Sequence[Rows]") -> "Rows":
        """Return the rows of parts, one behind the other. Documents of one name are one.

        Args:
            parts: One or more.
        """
        numbers: dict[str, int] = {}
        checksums: list[int] = []
        documents, ends, before = [], [], 0
        for part in parts:
            for name, value in zip(part.names, part.checksums.tolist(), strict=True):
                if numbers.setdefault(name, len(numbers)) == len(checksums):
                    checksums.append(value)
            renumbered = np.array([numbers[name] for name in part.names], np.int32)
            documents.append(renumbered[part.documents])
            ends.append(part.ends + before)
            before += len(part.texts)
        values = np.concatenate([part.vectors.values for part in parts])
        scales = np.concatenate([part.vectors.scales for part in parts])
        return cls(
            StoredVectors(values, scales),
            np.concatenate(documents),
            np.concatenate([part.starts for part in parts]),
            np.concatenate(ends),
            b"".join(part.texts for part in parts),
            tuple(numbers),
            np.array(checksums, np.uint32),
        )

    def without(self, documents: set[str]) -> "Rows":
        """Return the rows of the other documents.

        Args:
            documents: Names.
        """
        kept = np.array([name not in documents for name in self.names], bool)
        if kept.all():
            return self
        return self._selected(np.flatnonzero(kept[self.documents]), kept)

    def parts(self, most_rows: int, most_bytes: int) -> "Iterator[Rows]":
        """Yield the rows in parts with the documents that they belong to.

        Args:
            most_rows: Rows of a part.
            most_bytes: Bytes of a part's texts, unless one text has more.
        """
        start = 0
        while start < len(self):
            end = min(start + most_rows, len(self))
            fitting = int(np.searchsorted(self.ends, self._begin(start) + most_bytes, side="right"))
            end = max(start + 1, min(end, fitting))
            used = np.zeros(len(self.names), bool)
            used[self.documents[start:end]] = True
            yield self._selected(np.arange(start, end), used)
            start = end

    def _selected(self, rows: np.ndarray, documents: np.ndarray) -> "Rows":
        begins = np.concatenate([[0], self.ends[:-1]]).astype(np.int64)[rows]
        ends, numbers = self.ends[rows], np.cumsum(documents, dtype=np.int32) - 1
        together = not len(rows) or rows[-1] - rows[0] + 1 == len(rows)
        if together:
            texts = self.texts[begins[0] : ends[-1]] if len(rows) else b""
        else:
            texts = b"".join(self.texts[begin:end] for begin, end in zip(begins.tolist(), ends.tolist(), strict=True))
        return Rows(
            StoredVectors(self.vectors.values[rows], self.vectors.scales[rows]),
            numbers[self.documents[rows]],
            self.starts[rows],
            np.cumsum(ends - begins),
            texts,
            tuple(name for name, keep in zip(self.names, documents, strict=True) if keep),
            self.checksums[documents],
        )

    def _begin(self, row: int) -> int:
        return int(self.ends[row - 1]) if row else 0


def checksum(text: str) -> int:
    """Return the CRC-32 of a text in UTF-8."""
    return zlib.crc32(text.encode("utf-8"))
