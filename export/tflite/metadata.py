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
from kerasbert.export.tflite.packed_files import PackedFiles
from kerasbert.export.tflite.structure import load_bytes
from kerasbert.files.atomic import atomic_file
from kerasbert.files.own_files import HOST, METADATA, PACKED, check_own, mark, marked_json

__all__ = [
    "DESCRIPTION", "IDS", "LABELS", "TEXT", "VOCABULARY", "Metadata", "append", "append_mark", "check_takes_ids", "packed_size", "read",
    "require", "sidecar_path", "write_sidecar",
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
    data, default_name = load_bytes(path_or_bytes)
    name = name or default_name
    texts = PackedFiles(data, name).read()
    return None if texts is None else parse_metadata(texts, name)


def require(path_or_bytes: str | os.PathLike | bytes, purpose: str) -> Metadata:
    """Read the packed metadata of a file that must have it.

    Args:
        path_or_bytes: The file or its content.
        purpose: The use of the metadata, such as `to run it on texts`; for the message.

    Raises:
        KerasBertError: as `read` does, and when the file has no metadata.
    """
    metadata = read(path_or_bytes)
    if metadata is None:
        raise KerasBertError(
            f"expected kerasbert metadata (vocabulary, labels) in {_name(path_or_bytes)} {purpose}, received a .tflite file without it; "
            "convert the model with `kerasbert convert`, or pass packed arrays instead of texts"
        )
    return metadata


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


def sidecar_path(model_path: str | os.PathLike) -> Path:
    """Return `x.tflite.json` for `x.tflite`."""
    path = Path(model_path)
    return path.with_name(f"{path.name}.json")


def append_mark(host: bytes) -> bytes:
    """Return the host model's bytes with a packed mark that kerasbert wrote them."""
    stream = io.BytesIO(host)
    with zipfile.ZipFile(stream, "a", zipfile.ZIP_STORED) as archive:
        archive.writestr(zipfile.ZipInfo(PACKED[HOST]), json.dumps({"generator": mark(HOST)}) + "\n")
    return stream.getvalue()


def check_takes_ids(path: str | os.PathLike, metadata: Metadata | None, purpose: str) -> None:
    """Check that a file takes token ids.

    Args:
        path: The file.
        metadata: Its metadata; a file without any is assumed to take ids.
        purpose: The use of the file, for the message.

    Raises:
        KerasBertError: when it takes texts.
    """
    if metadata is not None and metadata.inputs != IDS:
        raise KerasBertError(
            f"expected a file that takes ids {purpose}, received {_name(path)}, which takes texts; convert the model with inputs of ids, "
            "or score the file with `kerasbert evaluate`"
        )


def _name(path_or_bytes: str | os.PathLike | bytes) -> str:
    return "the given bytes" if isinstance(path_or_bytes, bytes) else str(path_or_bytes)


def _lines(lines: tuple[str, ...]) -> str:
    return "".join(f"{line}\n" for line in lines)
