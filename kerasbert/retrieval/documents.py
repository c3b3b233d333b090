"""The documents of an index, read from files and folders."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from kerasbert.arguments import argument
from kerasbert.data.file_options import FileOptions
from kerasbert.data.lines import read_whole
from kerasbert.data.reading import read_plain_texts
from kerasbert.data.records import is_tabular
from kerasbert.errors import KerasBertError

ENDINGS = (".txt", ".md", ".markdown", ".rst", ".text")  # of the files of a folder that are read


@dataclass(frozen=True)
class Document:
    """A document.

    Attributes:
        name: Its path; of a row of a table, or of a line, with its number behind a colon.
        text: Its text.
    """

    name: str
    text: str


def read_documents(
    paths: Iterable[str | os.PathLike], options: FileOptions | None = None, lines: bool = False
) -> list[Document]:
    """Read documents.

    Args:
        paths: Files of text, each of them a document; tables (`.csv`, `.tsv`, `.jsonl`), whose rows are documents; and folders, of which
            the files of text are read, also those in their folders. Hidden ones are left out.
        options: How tables are read; of files of text the encoding counts.
        lines: Whether each line of a file of text is a document.

    Raises:
        KerasBertError: When a path is missing, has no text, or is named twice; when columns are named without a table.
    """
    options = options or FileOptions()
    documents: list[Document] = []
    seen: set[str] = set()
    tables = lines
    for path in map(Path, paths):
        for file in _files(path):
            if (real := os.path.realpath(file)) in seen:
                raise KerasBertError(f"expected each file once, received {str(file)!r} twice; name it once")
            seen.add(real)
            tables = tables or is_tabular(file, options.separator)
            documents += _read(file, options, lines)
    if options.columns and not tables:
        raise KerasBertError(
            f"expected a table for {argument('text_column')}, received files of text alone; leave the column out"
        )
    return documents


def _files(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    found: list[Path] = []
    for folder, folders, names in os.walk(path, onerror=_refuse):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        texts = (name for name in sorted(names) if not name.startswith(".") and Path(name).suffix.lower() in ENDINGS)
        found += [Path(folder, name) for name in texts]
    if not found:
        raise KerasBertError(
            f"expected files of text in the folder {str(path)!r} ({', '.join(ENDINGS)}), received none; name the files"
        )
    yield from found


def _refuse(error: OSError) -> None:
    raise KerasBertError(
        f"expected a folder that can be read, received {error.filename!r} ({error.strerror}); name another"
    )


def _read(file: Path, options: FileOptions, lines: bool) -> list[Document]:
    if lines or is_tabular(file, options.separator):
        table = read_plain_texts(file, options)
        return [Document(f"{file}:{line}", text) for line, text in zip(table.lines, table.x, strict=True)]
    return [Document(str(file), read_whole(file, options.encoding))]
