"""What a `.tflite` file says about itself, packed into the file: task, tokenizer, vocabulary, labels.

A zip archive without compression stands behind the FlatBuffer, TFLite's convention for packed associated files:
runtimes ignore it, and `unzip model.tflite` opens it. It holds `kerasbert.json`, `vocab.txt` and, when the model has
labels, `labels.txt`.
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

from kerasbert.errors import KerasBertError
from kerasbert.export.tflite.structure import load_bytes
from kerasbert.files.atomic import atomic_file
from kerasbert.files.json_text import parse_json
from kerasbert.files.own_files import HOST, METADATA, PACKED, check_own, mark, marked_json
from kerasbert.processors import PROCESSORS, Processor, make_processor
from kerasbert.processors.registry import processor_settings
from kerasbert.text.vocabulary_size import check_vocabulary_size

FORMAT = 1
CARD, VOCABULARY, LABELS = "kerasbert.json", "vocab.txt", "labels.txt"
_MEMBERS = frozenset({CARD, VOCABULARY, LABELS})
_MAX_BYTES = {CARD: 8 << 20, VOCABULARY: 32 << 20, LABELS: 4 << 20}
_MAX_MEMBERS = 16
_MOST_LENGTHS = 256
_MEMBER, _BEFORE_NAME = b"PK\x03\x04", 30  # how a member of an archive starts, and where its name stands from there
IDS, TEXT = "ids", "text"  # what a file takes


@dataclass(frozen=True)
class Metadata:
    """The packed model card of a `.tflite` file.

    `tokenizer` holds the settings of the tokenizer without the vocabulary, which is `vocabulary`, one token an entry, id =
    position. `sequence_length` is None when the length can be resized. `weights` is the fingerprint of the task that
    was converted, "" if unknown; `vocab_size` the rows of the word table, which may be more than `vocabulary` has.
    `integer_only`: whether no operator computes in float. `processor`: what the model reads and answers, with its labels and settings.
    `row_length`: the longest row of the task that was converted, where texts are cut when the file leaves its length open; None in files of
    before there were such. `lengths`: those of a file with a signature `serve_N` for each, of which `signature` is the longest; None
    for a file of one.
    `inputs`: `ids`, or `text` for a file with the tokenizer in its graph.
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

    def __post_init__(self):
        if self.vocabulary is not None:
            object.__setattr__(self, "vocabulary", tuple(self.vocabulary))
        for name, lines in (("vocabulary", self.vocabulary), ("labels", self.labels)):
            if any("\n" in line or "\r" in line for line in lines or ()):
                raise KerasBertError(f"expected {name} of one line each, received an entry with a line break")

    @property
    def labels(self) -> tuple[str, ...] | None:
        """Names of the classes in the order of the outputs, where there are any."""
        return self.processor.labels

    def card(self) -> dict[str, object]:
        """The content of `kerasbert.json`."""
        return {
            "format": FORMAT,
            "task": self.task,
            "problem": self.processor.name,
            "settings": processor_settings(self.processor),
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
    """The model's bytes with `metadata` packed behind them; an archive that was there before is replaced. Same input,
    same bytes."""
    data, _ = load_bytes(path_or_bytes)
    stream = io.BytesIO(data[: len(data) - packed_size(data)])
    with zipfile.ZipFile(stream, "a", zipfile.ZIP_STORED) as archive:
        archive.writestr(zipfile.ZipInfo(CARD), json.dumps(metadata.card(), indent=2, ensure_ascii=False) + "\n")
        if metadata.vocabulary is not None:
            archive.writestr(zipfile.ZipInfo(VOCABULARY), _lines(metadata.vocabulary))
        if metadata.labels is not None:
            archive.writestr(zipfile.ZipInfo(LABELS), _lines(metadata.labels))
    return stream.getvalue()


def read(path_or_bytes: str | os.PathLike | bytes, name: str | None = None) -> Metadata | None:
    """The packed metadata, or None for a `.tflite` file that carries none of ours. name: of bytes, for messages.

    Raises:
        KerasBertError: not a `.tflite` file, or an archive that is damaged, hostile or of a newer format.
    """
    data, found = load_bytes(path_or_bytes)
    name = name or found
    archive = _open(data, name)
    if archive is None or CARD not in archive.namelist():
        return None
    with archive:
        return _read(archive, name)


def require(path_or_bytes: str | os.PathLike | bytes, purpose: str) -> Metadata:
    """`read`, but a file without our metadata is an error that says what `purpose` is missing and what to do."""
    metadata = read(path_or_bytes)
    if metadata is None:
        raise KerasBertError(
            f"expected kerasbert metadata (vocabulary, labels) in {_name(path_or_bytes)} {purpose}, received a "
            ".tflite file without it; "
            "convert the model with `kerasbert convert`, or pass packed arrays instead of texts"
        )
    return metadata


def packed_size(data: bytes, name: str = "the given bytes") -> int:
    """Bytes of the archive behind the FlatBuffer; 0 when there is none. name: for messages."""
    archive = _open(data, name)
    if archive is None:
        return 0
    with archive:
        start = min((member.header_offset for member in archive.infolist()), default=archive.start_dir)
        return len(data) - start if 8 <= start <= len(data) else 0


def write_sidecar(model_path: str | os.PathLike, metadata: Metadata) -> Path:
    """Writes `<file>.json` beside the model: the card, the labels, and the file's size and sha256. Returns its path.

    Raises KerasBertError where another file has that name.
    """
    model_path = Path(model_path)
    data = model_path.read_bytes()
    sidecar = metadata.card()
    sidecar["labels"] = None if metadata.labels is None else list(metadata.labels)
    sidecar["file"] = {"name": model_path.name, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    path = sidecar_path(model_path)
    check_own(path, METADATA, "the metadata beside a model")
    with atomic_file(path) as partial:
        partial.write_text(marked_json(METADATA, sidecar), encoding="utf-8")
    return path


def sidecar_path(model_path: str | os.PathLike) -> Path:
    """`x.tflite.json` of `x.tflite`."""
    path = Path(model_path)
    return path.with_name(f"{path.name}.json")


def append_mark(host: bytes) -> bytes:
    """The bytes of a file's other part, with what tells that it was written here packed behind them."""
    stream = io.BytesIO(host)
    with zipfile.ZipFile(stream, "a", zipfile.ZIP_STORED) as archive:
        archive.writestr(zipfile.ZipInfo(PACKED[HOST]), json.dumps({"generator": mark(HOST)}) + "\n")
    return stream.getvalue()


def check_takes_ids(path: str | os.PathLike, metadata: Metadata | None, purpose: str) -> None:
    """Raises KerasBertError for a file that takes texts."""
    if metadata is not None and metadata.inputs != IDS:
        raise KerasBertError(
            f"expected a file that takes ids {purpose}, received {_name(path)}, which takes texts; take one of the same model that takes "
            "ids; `kerasbert evaluate` scores both"
        )


def _open(data: bytes, name: str) -> zipfile.ZipFile | None:
    stream = io.BytesIO(data)
    if not zipfile.is_zipfile(stream):
        member = data.find(CARD.encode())
        if member >= _BEFORE_NAME and data[member - _BEFORE_NAME :].startswith(_MEMBER):
            raise _bad(name, "an archive without its end: the file was cut short, or has something behind it")
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
        # Stored members cannot hold more than the file itself does, so nothing unpacks into more than it weighs.
        if member.compress_type != zipfile.ZIP_STORED or member.file_size != member.compress_size:
            raise _bad(name, f"a compressed {member.filename}, where stored files belong")
        if member.file_size > _MAX_BYTES[member.filename]:
            raise _bad(
                name, f"{member.filename} of {member.file_size:,} bytes, more than {_MAX_BYTES[member.filename]:,}"
            )


def _parse(texts: dict[str, str], name: str) -> Metadata:
    try:
        card = parse_json(texts[CARD], CARD)
    except KerasBertError as error:
        raise _bad(name, f"a {CARD} that is not JSON ({error})") from error
    if not isinstance(card, dict):
        raise _bad(name, f"a {CARD} that is not a JSON object")
    if card.get("format") != FORMAT:
        raise _bad(name, f"metadata of format {card.get('format')!r}, where this version of kerasbert reads {FORMAT}")
    fields = {}
    for key, kinds in _FIELDS.items():
        value = card.get(key, _DEFAULTS.get(key))
        if not isinstance(value, kinds) or (isinstance(value, bool) and kinds is not bool):
            raise _bad(name, f"{key!r} = {str(value)[:60]!r} in {CARD}")
        fields[key] = value
    kind, settings = fields.pop("problem"), fields.pop("settings")
    if kind not in PROCESSORS:
        raise _bad(name, f"problem {kind!r} in {CARD}, not one of {', '.join(PROCESSORS)}")
    if fields["inputs"] not in (IDS, TEXT):
        raise _bad(name, f"inputs {fields['inputs'][:60]!r} in {CARD}, not {IDS} or {TEXT}")
    fields["lengths"] = _parsed_lengths(card.get("lengths"), name)
    for key in ("sequence_length", "row_length"):
        if fields[key] is not None and not 1 <= fields[key] <= 1 << 20:
            raise _bad(name, f"{key} {fields[key]} in {CARD}")
    vocabulary = _split(texts.get(VOCABULARY))
    if vocabulary and fields["vocab_size"] is not None:
        check_vocabulary_size(len(vocabulary), fields["vocab_size"], name)
    labels = _split(texts.get(LABELS))
    if labels == ():
        raise _bad(name, f"an empty {LABELS}")
    try:
        processor = make_processor(kind, labels, settings)
    except KerasBertError as error:
        raise _bad(name, f"settings of another task type in {CARD} ({error})") from error
    return Metadata(**fields, processor=processor, vocabulary=vocabulary)


def _parsed_lengths(given, name: str) -> tuple[int, ...] | None:
    """Rising numbers of tokens."""
    if given is None:
        return None
    whole = isinstance(given, list) and all(type(each) is int and 1 <= each <= 1 << 20 for each in given)
    if not whole or not 2 <= len(given) <= _MOST_LENGTHS or given != sorted(set(given)):
        raise _bad(name, f"lengths {str(given)[:60]} in {CARD}")
    return tuple(given)


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

_DEFAULTS = {
    "weights": "",
    "integer_only": False,
    "settings": {},
    "inputs": IDS,
}  # files of the first versions do not name them


def _bad(name: str, received: str) -> KerasBertError:
    return KerasBertError(f"expected kerasbert metadata in {name}, received {received}; convert the model again")


def _name(path_or_bytes) -> str:
    return "the given bytes" if isinstance(path_or_bytes, bytes) else str(path_or_bytes)


def _lines(lines: tuple[str, ...]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _split(text: str | None) -> tuple[str, ...] | None:
    # Not splitlines(): vocabularies hold characters that Unicode counts as line breaks.
    if text is None:
        return None
    lines = text.split("\n")
    return tuple(line.removesuffix("\r") for line in (lines[:-1] if lines[-1] == "" else lines))
