"""The models of a site: files that a browser can run, each with a name of its own."""

import hashlib
import os
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from kerasbert.console.numbers import format_bytes
from kerasbert.errors import KerasBertError
from kerasbert.export.lowering.targets import is_partitioned
from kerasbert.export.tflite.metadata import IDS, Metadata
from kerasbert.export.tflite.model_file import ModelFile
from kerasbert.files.own_files import HOST, is_own

FOLDER = "models"
MOST_BYTES = 400_000_000  # of one file, as in the page, which holds it in memory; WebAssembly holds a copy
JAPANESE = "japanese"
TOKENIZERS = ("wordpiece", "client_wordpiece", JAPANESE, "xlm_roberta")  # the kinds that the page's code has
_LONGEST_NAME = 80


@dataclass(frozen=True)
class SiteModel:
    """A model of a site.

    Attributes:
        source: The file that was named.
        name: Its name in the site, of ASCII letters, digits, `-`, `_` and `.`.
        title: Its name for people.
        task: The name of its processor, such as `single_label`.
        size: Its bytes.
        sha256: The SHA-256 of its content.
        resizable: Whether its length is open.
    """

    source: Path
    name: str
    title: str
    task: str
    size: int
    sha256: str
    resizable: bool = False

    @property
    def file(self) -> str:
        """Its path in the site."""
        return f"{FOLDER}/{self.name}.tflite"

    def entry(self) -> dict[str, object]:
        """Return its entry in the site's list of models."""
        return {
            "name": self.name, "file": self.file, "title": self.title, "task": self.task, "bytes": self.size, "sha256": self.sha256,
        }  # fmt: skip


def read_models(paths: Iterable[Path]) -> list[SiteModel]:
    """Read and check the models of a site. A file that is named twice counts once.

    Args:
        paths: The `.tflite` files.

    Raises:
        KerasBertError: When one cannot run in a browser.
    """
    unique = list({os.path.realpath(path): path for path in paths}.values())
    titles = _titles(unique)
    return [_read(path, name, title) for path, name, title in zip(unique, _names(titles), titles, strict=True)]


def _read(path: Path, name: str, title: str) -> SiteModel:
    file, metadata = _checked(path)
    digest = hashlib.sha256(file.content).hexdigest()
    return SiteModel(path, name, title, metadata.processor.name, len(file.content), digest, bool(file.resizable))


def _checked(path: Path) -> tuple[ModelFile, Metadata]:
    """Read a file, and check that the page can run it."""
    if is_own(path, HOST):
        raise _unsuitable(path, "the host part of a model for an Edge TPU", "convert the model with --target web")
    if path.is_file() and path.stat().st_size > MOST_BYTES:
        received = format_bytes(path.stat().st_size)
        raise _unsuitable(path, f"one of {received}", f"use a model of at most {format_bytes(MOST_BYTES)}")
    file = ModelFile.read(path)
    metadata = file.metadata
    if metadata is None:
        raise _unsuitable(
            path, "one without kerasbert's vocabulary and labels", "convert the model with `kerasbert convert`"
        )
    if metadata.inputs != IDS:
        raise _unsuitable(path, "one that takes texts", "convert the model without --inputs text")
    if is_partitioned(metadata.target):
        raise _unsuitable(
            path, "the accelerator part of a model for an Edge TPU", "convert the model with --target web"
        )
    if reason := _unknown_tokenizer(metadata):
        raise _unsuitable(path, f"one with {reason}", "use a model with a WordPiece vocabulary")
    custom = [op.name for graph in file.subgraphs for op in graph.operators if op.custom]
    if custom:
        raise _unsuitable(path, f"one with the operator {custom[0]}", "convert the model with `kerasbert convert`")
    return file, metadata


def _unknown_tokenizer(metadata: Metadata) -> str:
    """Name a tokenizer that the page's code does not have; empty for one that it has."""
    kind = str(metadata.tokenizer.get("kind", TOKENIZERS[0]))
    if kind not in TOKENIZERS:
        return f"the tokenizer {kind[:60]!r}"
    if kind == JAPANESE and metadata.tokenizer.get("subwords") != "character":
        return "Japanese words, which MeCab splits"
    return "" if metadata.vocabulary else "no vocabulary"


def _unsuitable(path: Path, received: str, advice: str) -> KerasBertError:
    return KerasBertError(f"expected a .tflite file that runs in a browser, received {path}, {received}; {advice}")


def _titles(paths: Sequence[Path]) -> list[str]:
    """Return the files' names without their ending; files of the same name get their folder before it."""
    stems = [_printable(path.stem) for path in paths]
    titles = []
    for path, stem in zip(paths, stems, strict=True):
        alone = sum(other.casefold() == stem.casefold() for other in stems) == 1
        titles.append(stem if alone else f"{_printable(path.absolute().parent.name)}/{stem}")
    return titles


def _printable(name: str) -> str:
    """Replace what no JSON file or page shows: bytes that are not UTF-8, and control characters."""
    text = name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return "".join("\ufffd" if unicodedata.category(character) in ("Cc", "Cs") else character for character in text)


def _names(titles: Iterable[str]) -> list[str]:
    """Return a name for each title that is safe in every URL and file system. No two differ only in upper and lower case."""
    names: dict[str, str] = {}
    for title in titles:
        ascii_text = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode()
        base = re.sub(r"[^A-Za-z0-9._-]+", "-", ascii_text).strip("-._")[:_LONGEST_NAME] or "model"
        name, number = base, 2
        while name.casefold() in names:
            name, number = f"{base}-{number}", number + 1
        names[name.casefold()] = name
    return list(names.values())
