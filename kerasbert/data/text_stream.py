"""Running text that is larger than memory: files in parts, read block by block, the same blocks every time."""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from glob import glob, has_magic
from pathlib import Path
from typing import Any

import numpy as np

from kerasbert.arguments import check_path, check_whole_number, shown
from kerasbert.data.encodings import check_encoding
from kerasbert.data.lines import read_lines
from kerasbert.data.records import data_suffix
from kerasbert.errors import KerasBertError
from kerasbert.files.json_text import parse_json
from kerasbert.files.known_keys import KnownKeys
from kerasbert.values import short_repr

BLOCK_BYTES = 2 << 20  # of text that is tokenized at once
_OPEN_FILES = 8  # whose texts share a block
_LONGEST = 100_000  # characters of a text; a longer line becomes several texts
# Keys of a line of JSON: those of a tagger's predictions, and labels, which pretraining does not learn.
_KEYS = KnownKeys(used=frozenset({"text", "entities"}), harmless=frozenset({"words", "tags", "label", "labels", "id"}))
_BREAK = re.compile(r"\s")


@dataclass
class Document:
    """Texts that follow each other.

    Attributes:
        texts: The texts.
        spans: `(start, end)` characters of the entities and phrases of each text; empty for files without them.
    """

    texts: list[str] = field(default_factory=list)
    spans: list[list[tuple[int, int]]] = field(default_factory=list)


class TextStream:
    """The texts of some files, which are never in memory as a whole.

    A file is text, one text a line, with blank lines between documents. Or it is JSON Lines: each line has a `text`, and `entities` with
    the `start` and `end` of each span of entity masking; the predictions of a tagger have this form. Files may be compressed as `.gz`.

    A block has texts of up to eight files. It depends on the seed and its number alone.

    Args:
        paths: A file, a folder, a pattern such as `corpus/*.txt.gz`, or a list of them. A folder stands for its .txt and .jsonl files.
        encoding: As for `kb.data.read_table`.
        block_bytes: Characters in a block, at most.

    Attributes:
        files: The files.

    Raises:
        KerasBertError: When there is no such file.

    Example:
        ```python
        stream = kb.data.TextStream("texts.txt")
        documents = next(stream.blocks(seed=0))
        documents[0].texts[0]
        ```
    """

    def __init__(
        self,
        paths: str | os.PathLike | Sequence[str | os.PathLike],
        *,
        encoding: str | None = None,
        block_bytes: int = BLOCK_BYTES,
    ) -> None:
        check_encoding(encoding)
        given = [paths] if isinstance(paths, str | os.PathLike) else paths
        if not isinstance(given, list | tuple):
            raise KerasBertError(
                f"expected a path or a list of paths, received {shown(paths)}; give the files of the corpus"
            )
        self.files = tuple(dict.fromkeys(file for path in given for file in _files(check_path(path, "a text file"))))
        if not self.files:
            raise KerasBertError("expected one text file or more, received none; give the files of the corpus")
        self.encoding, self.block_bytes = encoding, check_whole_number(block_bytes, "block_bytes")

    def __repr__(self) -> str:
        return f"TextStream({len(self.files)} file{'s'[: len(self.files) > 1]})"

    @property
    def has_spans(self) -> bool:
        """Whether all files are JSON Lines, whose texts have entities."""
        return all(data_suffix(file) == ".jsonl" for file in self.files)

    def texts(self) -> Iterator[str]:
        """Yield the texts of all files in their order.

        Yields:
            The texts.

        Raises:
            KerasBertError: When a file cannot be read, or is no text.
        """
        for file in self.files:
            for text, _ in self._lines(file):
                if text:
                    yield text

    def blocks(self, seed: int | Sequence[int], skip: int = 0) -> Iterator[list[Document]]:
        """Yield the documents of all files once, in blocks.

        Args:
            seed: The seed of the order of the files.
            skip: The number of blocks to read without returning them.

        Yields:
            The documents of a block.

        Raises:
            KerasBertError: When a file cannot be read, or is no text; when no file has a text.
        """
        order = np.random.default_rng(seed).permutation(len(self.files))
        waiting = [self.files[i] for i in order][::-1]
        readers: list[_DocumentReader] = []
        number = 0
        while waiting or readers:
            while waiting and len(readers) < _OPEN_FILES:
                readers.append(_DocumentReader(self._lines(waiting.pop())))
            part = self.block_bytes // len(readers)
            block = [document for reader in readers for document in reader.read(part)]
            readers = [reader for reader in readers if not reader.ended]
            if block:
                number += 1
                if number > skip:
                    yield block
        if not number:
            raise KerasBertError(f"expected text in {self._names()}, received none; give files with texts")

    def _names(self) -> str:
        return str(self.files[0]) if len(self.files) == 1 else f"{self.files[0]} and {len(self.files) - 1} more"

    def _lines(self, file: Path) -> Iterator[tuple[str, list[tuple[int, int]]]]:
        """Yield (text, spans) of each line; an empty text for a blank line."""
        if data_suffix(file) == ".jsonl":
            yield from _tagged_lines(file, self.encoding)
            return
        for _, line in read_lines(file, self.encoding):
            text = line.strip()
            for piece in _pieces(text) if len(text) > _LONGEST else (text,):
                yield piece, []


class _DocumentReader:
    """The documents of an open file; a part may end inside of one."""

    def __init__(self, lines: Iterator[tuple[str, list[tuple[int, int]]]]) -> None:
        self._lines, self.ended = lines, False

    def read(self, characters: int) -> list[Document]:
        """Return the next documents, of about as many characters."""
        documents, size = [Document()], 0
        for text, spans in self._lines:
            if text:
                documents[-1].texts.append(text)
                documents[-1].spans.append(spans)
                size += len(text)
            elif documents[-1].texts:
                documents.append(Document())
            if size >= characters:
                break
        else:
            self.ended = True
        return [document for document in documents if document.texts]


def _files(path: str) -> list[Path]:
    """Return the files of a path, a folder or a pattern, in alphabetical order.

    Raises:
        KerasBertError: When there is none.
    """
    if os.path.isdir(path):
        found = [file for file in Path(path).iterdir() if data_suffix(file) in (".txt", ".jsonl")]
        if not found:
            raise KerasBertError(f"expected a folder with .txt or .jsonl files, received {path!r}; name the files")
        return sorted(found)
    if has_magic(path) and not os.path.exists(path):
        names = sorted(glob(path))
        if not names:
            raise KerasBertError(f"expected files for the pattern {path!r}, received none; correct the pattern")
        return [Path(name) for name in names]
    if not os.path.exists(path):
        raise KerasBertError(f"expected a text file {path}, received no such file; correct the path")
    return [Path(path)]


def _pieces(text: str) -> Iterator[str]:
    """Split a long text at white space."""
    start = 0
    while start < len(text):
        end = start + _LONGEST
        space = _BREAK.search(text, end) if end < len(text) else None
        end = min(end, len(text)) if space is None or space.start() > end + _LONGEST else space.start()
        if piece := text[start:end].strip():
            yield piece
        start = end


def _tagged_lines(file: Path, encoding: str | None) -> Iterator[tuple[str, list[tuple[int, int]]]]:
    for number, line in read_lines(file, encoding):
        if not line.strip():
            yield "", []
            continue
        where = f"{file}, line {number}"
        row = parse_json(line, where)
        if not isinstance(row, dict) or not isinstance(row.get("text"), str):
            raise KerasBertError(f"{where}: expected an object with a text, received {short_repr(row)}; correct it")
        _KEYS.check(row, file)
        yield row["text"].strip(), _read_spans(row, where)


def _read_spans(row: dict[str, Any], where: str) -> list[tuple[int, int]]:
    """Return the checked spans of a text, in their order. A span with a `text` must be that part of the text."""
    text, entities = row["text"], row.get("entities", [])
    if not isinstance(entities, list):
        raise KerasBertError(f"{where}: expected entities as a list, received {short_repr(entities)}; correct it")
    shift, spans = len(text) - len(text.lstrip()), []
    for entity in entities:
        start, end = (entity.get("start"), entity.get("end")) if isinstance(entity, dict) else (None, None)
        if type(start) is not int or type(end) is not int or not 0 <= start < end <= len(text):
            raise KerasBertError(
                f"{where}: expected an entity with start and end inside its text of {len(text)} characters, received "
                f"{short_repr(entity)}; make the spans from this corpus"
            )
        names = [entity[name] for name in ("text", "word") if isinstance(entity.get(name), str)]
        if names and names[0] != text[start:end]:
            raise KerasBertError(
                f"{where}: expected the entity {short_repr(names[0])} at {start} to {end}, received "
                f"{short_repr(text[start:end])} there; make the spans from this corpus"
            )
        spans.append((start - shift, end - shift))
    return sorted(spans)
