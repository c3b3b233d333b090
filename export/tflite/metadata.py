"""Metadata packed into a `.tflite` file: task, tokenizer, vocabulary, labels.

An uncompressed zip archive follows the FlatBuffer. This is TFLite's convention for packed associated files: runtimes ignore it, and
`unzip model.tflite` opens it. It holds `kerasbert.json`, `vocab.txt` and, for a model with labels, `labels.txt`.
"""

import hashlib
import io
import json
import os
import struct
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kerasbert.errors import KerasBertError
from kerasbert.export.tflite.structure import load_bytes
from kerasbert.files.atomic import atomic_file
from kerasbert.files.json_text import parse_json
from kerasbert.files.own_files import HOST, METADATA, PACKED, check_own, mark, marked_json
from kerasbert.processors import PROCESSORS, Processor, make_processor
from kerasbert.text.vocabulary_size import check_vocabulary_size

FORMAT = 1
DESCRIPTION, VOCABULARY, LABELS = "kerasbert.json", "vocab.txt", "labels.txt"
_MEMBERS = frozenset({DESCRIPTION, VOCABULARY, LABELS})
_MAX_BYTES = {DESCRIPTION: 8 << 20, VOCABULARY: 32 << 20, LABELS: 4 << 20}
_MAX_MEMBERS = 16
_MAX_LENGTHS = 256
_MAX_TOKENS = 1 << 20
_MEMBER_SIGNATURE, _NAME_OFFSET = b"PK\x03\x04", 30  # of a zip member's local header
IDS, TEXT = "ids", "text"  # the kinds of inputs that a file takes


@dataclass(frozen=True)
class Metadata:
    """The packed metadata of a `.tflite` file.

    Attributes:
        task: The class name of the task that was converted.
        processor: The task's processor, with its labels and settings.
        sequence_length: Tokens of the inputs, of the longest signature where there are several; None for a resizable length.
        recipe: The recipe of the conversion.
        target: The deployment target.
        parameters: Trained parameters of the model.
        tokenizer: The tokenizer's settings without the vocabulary.
        kerasbert: The version of kerasbert that wrote the file.
        vocabulary: The tokens in the order of their ids.
        signature: The signature's name; the longest one's where there are several.
        weights: The fingerprint of the task that was converted, "" if unknown.
        vocab_size: Rows of the token embedding table, which may be more than the vocabulary has tokens.
        integer_only: Whether no operator computes in float.
        row_length: The task's longest row, to which texts are cut if the file is resizable. None in files of the first versions.
        lengths: The lengths of a file with a signature `serve_N` for each; None for a file with one signature.
        inputs: `ids`, or `text` for a file with the tokenizer in its graph.
    """

    task: str
    processor: Processor
    sequence_length: int | None
    recipe: str
    target: str
    parameters: int
    tokenizer: Mapping[str, object] = field(default_factory=dict)
    kerasbert: str = ""
    vocabulary: tuple[str, ...] | None = None
    signature: str = "serve"
    weights: str = ""
    vocab_size: int | None = None
    integer_only: bool = False
    row_length: int | None = None
    lengths: tuple[int, ...] | None = None
    inputs: str = IDS

    def __post_init__(self) -> None:
        if self.vocabulary is not None:
            object.__setattr__(self, "vocabulary", tuple(self.vocabulary))
        for name, lines in (("vocabulary", self.vocabulary), ("labels", self.labels)):
            if any("\n" in line or "\r" in line for line in lines or ()):
                raise KerasBertError(
                    f"expected {name} of one line each, received an entry with a line break; remove it"
                )

    @property
    def labels(self) -> tuple[str, ...] | None:
        """Names of the classes in the order of the outputs, if there are any."""
        return self.processor.labels

    def as_dict(self) -> dict[str, Any]:
        """Returns the content of `kerasbert.json`."""
        return {
            "format": FORMAT,
            "task": self.task,
            "problem": self.processor.name,
            "settings": self.processor.settings(),
            "signature": self.signature,
            "sequence_length": self.sequence_length,
            "row_length": self.row_length,
            **({"lengths": list(self.lengths)} if self.lengths else {}),
            **({"inputs": self.inputs} if self.inputs != IDS else {}),
            "recipe": self.recipe,
            "integer_only": self.integer_only,
            "target": self.target,
            "parameters": self.parameters,
            "weights": self.weights,
            "vocab_size": self.vocab_size,
            "tokenizer": dict(self.tokenizer),
            "kerasbert": self.kerasbert,
        }


def append(path_or_bytes: str | os.PathLike | bytes, metadata: Metadata) -> bytes:
    """Returns the model's bytes with `metadata` packed behind them, in place of any earlier metadata. Equal inputs give equal bytes."""
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
    """Reads the packed metadata.

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
    archive = _open(data, name)
    if archive is None or DESCRIPTION not in archive.namelist():
        return None
    with archive:
        return _read(archive, name)


def require(path_or_bytes: str | os.PathLike | bytes, purpose: str) -> Metadata:
    """Reads the packed metadata of a file that must have it.

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
    """Returns the bytes of the archive behind the FlatBuffer; 0 when there is none. `name` is for messages."""
    archive = _open(data, name)
    if archive is None:
        return 0
    with archive:
        start = min((member.header_offset for member in archive.infolist()), default=archive.start_dir)
        return len(data) - start if 8 <= start <= len(data) else 0


def write_sidecar(model_path: str | os.PathLike, metadata: Metadata) -> Path:
    """Writes `<file>.json` beside the model: the metadata, the labels, and the file's size and sha256.

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
    """Returns `x.tflite.json` for `x.tflite`."""
    path = Path(model_path)
    return path.with_name(f"{path.name}.json")


def append_mark(host: bytes) -> bytes:
    """Returns the host model's bytes with a packed mark that kerasbert wrote them."""
    stream = io.BytesIO(host)
    with zipfile.ZipFile(stream, "a", zipfile.ZIP_STORED) as archive:
        archive.writestr(zipfile.ZipInfo(PACKED[HOST]), json.dumps({"generator": mark(HOST)}) + "\n")
    return stream.getvalue()


def check_takes_ids(path: str | os.PathLike, metadata: Metadata | None, purpose: str) -> None:
    """Checks that a file takes token ids.

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


def _open(data: bytes, name: str) -> zipfile.ZipFile | None:
    stream = io.BytesIO(data)
    if not zipfile.is_zipfile(stream):
        position = data.find(DESCRIPTION.encode())
        if position >= _NAME_OFFSET and data[position - _NAME_OFFSET :].startswith(_MEMBER_SIGNATURE):
            raise _bad(name, "an archive without its end: the file was cut short, or other bytes follow it")
        return None
    try:
        return zipfile.ZipFile(stream)
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
        raise _bad(name, f"an archive that does not open ({error})") from error


def _read(archive: zipfile.ZipFile, name: str) -> Metadata:
    _check_members(archive.infolist(), name)
    texts = {}
    for member in archive.infolist():
        try:
            texts[member.filename] = archive.read(member).decode("utf-8")
        except (zipfile.BadZipFile, RuntimeError, OSError, EOFError, ValueError, struct.error) as error:
            raise _bad(name, f"{member.filename} that cannot be read ({error})") from error
    return _parse(texts, name)


def _check_members(members: list[zipfile.ZipInfo], name: str) -> None:
    if len(members) > _MAX_MEMBERS:
        raise _bad(name, f"{len(members)} packed files, more than {_MAX_MEMBERS}")
    names = [member.filename for member in members]
    unexpected = [entry for entry in names if entry not in _MEMBERS]
    if unexpected:
        raise _bad(name, f"a packed file {unexpected[0]!r}, not one of {', '.join(sorted(_MEMBERS))}")
    if len(set(names)) != len(names):
        raise _bad(name, "the same packed file twice")
    for member in members:
        # A stored member is no larger than the file, so a small archive cannot unpack into a huge one.
        if member.compress_type != zipfile.ZIP_STORED or member.file_size != member.compress_size:
            raise _bad(name, f"a compressed {member.filename}, where stored files belong")
        if member.file_size > _MAX_BYTES[member.filename]:
            raise _bad(
                name, f"{member.filename} of {member.file_size:,} bytes, more than {_MAX_BYTES[member.filename]:,}"
            )


def _parse(texts: dict[str, str], name: str) -> Metadata:
    description = _parse_description(texts[DESCRIPTION], name)
    fields = _checked_fields(description, name)
    kind, settings = fields.pop("problem"), fields.pop("settings")
    fields["lengths"] = _checked_lengths(description.get("lengths"), name)
    vocabulary = _split(texts.get(VOCABULARY))
    if vocabulary and fields["vocab_size"] is not None:
        check_vocabulary_size(len(vocabulary), fields["vocab_size"], name)
    labels = _split(texts.get(LABELS))
    if labels == ():
        raise _bad(name, f"an empty {LABELS}")
    try:
        processor = make_processor(kind, labels, settings)
    except KerasBertError as error:
        raise _bad(name, f"settings of another task type in {DESCRIPTION} ({error})") from error
    return Metadata(**fields, processor=processor, vocabulary=vocabulary)


def _parse_description(text: str, name: str) -> dict[str, Any]:
    try:
        description = parse_json(text, DESCRIPTION)
    except KerasBertError as error:
        raise _bad(name, f"a {DESCRIPTION} that is not JSON ({error})") from error
    if not isinstance(description, dict):
        raise _bad(name, f"a {DESCRIPTION} that is not a JSON object")
    if (number := description.get("format")) != FORMAT:
        raise _bad(name, f"metadata of format {number!r}, where this version of kerasbert reads {FORMAT}")
    return description


def _checked_fields(description: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Returns the entries of `_FIELDS`, once their types and values are checked."""
    fields = {}
    for key, kinds in _FIELDS.items():
        value = description.get(key, _DEFAULTS.get(key))
        if not isinstance(value, kinds) or (isinstance(value, bool) and kinds is not bool):
            raise _bad(name, f"{key!r} = {str(value)[:60]!r} in {DESCRIPTION}")
        fields[key] = value
    if fields["problem"] not in PROCESSORS:
        raise _bad(name, f"problem {fields['problem']!r} in {DESCRIPTION}, not one of {', '.join(PROCESSORS)}")
    if fields["inputs"] not in (IDS, TEXT):
        raise _bad(name, f"inputs {fields['inputs'][:60]!r} in {DESCRIPTION}, not {IDS} or {TEXT}")
    for key in ("sequence_length", "row_length"):
        if fields[key] is not None and not 1 <= fields[key] <= _MAX_TOKENS:
            raise _bad(name, f"{key} {fields[key]} in {DESCRIPTION}")
    return fields


def _checked_lengths(lengths: Any, name: str) -> tuple[int, ...] | None:
    """Returns rising numbers of tokens, once they are checked."""
    if lengths is None:
        return None
    whole = isinstance(lengths, list) and all(type(each) is int and 1 <= each <= _MAX_TOKENS for each in lengths)
    if not whole or not 2 <= len(lengths) <= _MAX_LENGTHS or lengths != sorted(set(lengths)):
        raise _bad(name, f"lengths {str(lengths)[:60]} in {DESCRIPTION}")
    return tuple(lengths)


_FIELDS = {
    "task": str,
    "problem": str,
    "settings": dict,
    "signature": str,
    "sequence_length": int | None,
    "row_length": int | None,
    "recipe": str,
    "target": str,
    "parameters": int,
    "weights": str,
    "vocab_size": int | None,
    "tokenizer": dict,
    "kerasbert": str,
    "integer_only": bool,
    "inputs": str,
}

# Files of the first versions lack these fields.
_DEFAULTS = {"weights": "", "integer_only": False, "settings": {}, "inputs": IDS}


def _bad(name: str, received: str) -> KerasBertError:
    return KerasBertError(f"expected kerasbert metadata in {name}, received {received}; convert the model again")


def _name(path_or_bytes: str | os.PathLike | bytes) -> str:
    return "the given bytes" if isinstance(path_or_bytes, bytes) else str(path_or_bytes)


def _lines(lines: tuple[str, ...]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _split(text: str | None) -> tuple[str, ...] | None:
    # Not splitlines(): vocabularies hold characters that Unicode counts as line breaks.
    if text is None:
        return None
    lines = text.split("\n")
    return tuple(line.removesuffix("\r") for line in (lines[:-1] if lines[-1] == "" else lines))
