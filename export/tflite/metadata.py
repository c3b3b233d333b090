"""Metadata packed into a `.tflite` file: task, tokenizer, vocabulary, labels.

An uncompressed zip archive follows the FlatBuffer. This is TFLite's convention for packed associated files: runtimes ignore it, and
`unzip model.tflite` opens it. It holds `kerasbert.json`, `vocab.txt` and, for a model with labels, `labels.txt`.
"""

import hashlib
import io
import json
import os
import zipfile
from pathlib import Path

from kerasbert.errors import KerasBertError
from kerasbert.export.tflite.metadata_format import (
    DESCRIPTION,
    IDS,
    LABELS,
    TEXT,
    VOCABULARY,
    Metadata,
    parse_metadata,
)
from kerasbert.export.tflite.model_parts import sidecar_path
from kerasbert.export.tflite.packed_files import PackedFiles
from kerasbert.export.tflite.structure import load_bytes
from kerasbert.files.atomic import atomic_file
from kerasbert.files.own_files import HOST, METADATA, PACKED, check_own, mark, marked_json
from kerasbert.text import Tokenizer

__all__ = [
    "DESCRIPTION", "IDS", "LABELS", "TEXT", "VOCABULARY", "Metadata", "append", "append_mark", "packed_size", "read",
    "tokenizer_of", "write_sidecar",
]  # fmt: skip


def append(path_or_bytes: str | os.PathLike | bytes, metadata: Metadata) -> bytes:
    """Return the model's bytes with `metadata` packed behind them, in place of any earlier metadata. Equal inputs give equal bytes."""
    data, _ = load_bytes(path_or_bytes)
    stream = io.BytesIO(data[: len(data) - packed_size(data)])
    with zipfile.ZipFile(stream, "a", zipfile.ZIP_STORED) as archive:
        description = json.dumps(metadata.as_dict(), indent=2, ensure_ascii=False) + "\n"
        archive.writestr(zipfile.ZipInfo(DESCRIPTION), description)
        if metadata.vocabulary is not None:
            archive.writestr(zipfile.ZipInfo(VOCABULARY), _lines(metadata.vocabulary))
        if metadata.labels is not None:
            archive.writestr(zipfile.ZipInfo(LABELS), _lines(metadata.labels))
    return stream.getvalue()


def read(path_or_bytes: str | os.PathLike | bytes, name: str | None = None) -> Metadata | None:
    """Read the packed metadata.

    Args:
        path_or_bytes: The file or its content.
        name: The file's name in messages.

    Returns:
        The metadata, or None for a `.tflite` file without any of kerasbert's.

    Raises:
        KerasBertError: when it is not a `.tflite` file, or the archive is damaged, hostile or of a newer format.
    """
    content, default_name = load_bytes(path_or_bytes)
    return read_content(content, name or default_name)


def read_content(content: bytes, name: str) -> Metadata | None:
    """Read the packed metadata of a file's bytes, as `read` does. `name` is for messages."""
    texts = PackedFiles(content, name).read()
    return None if texts is None else parse_metadata(texts, name)


def packed_size(data: bytes, name: str = "the given bytes") -> int:
    """Return the bytes of the archive behind the FlatBuffer; 0 when there is none. `name` is for messages."""
    start = PackedFiles(data, name).start()
    return len(data) - start if start is not None and 8 <= start <= len(data) else 0


def write_sidecar(model_path: str | os.PathLike, metadata: Metadata) -> Path:
    """Write `<file>.json` beside the model: the metadata, the labels, and the file's size and sha256.

    Returns:
        The path of the JSON file.

    Raises:
        KerasBertError: when a file of that name exists that kerasbert did not write.
    """
    model_path = Path(model_path)
    data = model_path.read_bytes()
    sidecar = metadata.as_dict()
    sidecar["labels"] = None if metadata.labels is None else list(metadata.labels)
    sidecar["file"] = {"name": model_path.name, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    path = sidecar_path(model_path)
    check_own(path, METADATA, "the metadata beside a model")
    with atomic_file(path) as partial:
        partial.write_text(marked_json(METADATA, sidecar), encoding="utf-8")
    return path


def append_mark(host: bytes) -> bytes:
    """Return the host model's bytes with a packed mark that kerasbert wrote them."""
    stream = io.BytesIO(host)
    with zipfile.ZipFile(stream, "a", zipfile.ZIP_STORED) as archive:
        archive.writestr(zipfile.ZipInfo(PACKED[HOST]), json.dumps({"generator": mark(HOST)}) + "\n")
    return stream.getvalue()


def tokenizer_of(metadata: Metadata) -> Tokenizer:
    """Build the tokenizer of a file.

    Raises:
        KerasBertError: when the metadata describes no valid tokenizer.
    """
    from kerasbert.text import tokenizer_from_config

    try:
        return tokenizer_from_config({**metadata.tokenizer, "vocabulary": list(metadata.vocabulary or ())})
    except KerasBertError:
        raise
    except Exception as error:  # the metadata may be hostile, and tokenization engines have exceptions of their own
        raise KerasBertError(
            f"expected settings of a tokenizer in the file's {DESCRIPTION}, received others "
            f"({type(error).__name__}: {error}); convert the model again"
        ) from error


def _lines(lines: tuple[str, ...]) -> str:
    return "".join(f"{line}\n" for line in lines)
