"""Damaged `.tflite` files: changes of bytes, of graph objects and of the metadata archive."""

import io
import json
import zipfile
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kerasbert.export.tflite.metadata import packed_size
from kerasbert.export.tflite.model import decode, encode

_NUMBERS = (
    0,
    1,
    2,
    3,
    4,
    7,
    8,
    16,
    31,
    32,
    64,
    127,
    128,
    255,
    256,
    1 << 15,
    1 << 16,
    (1 << 31) - 1,
    1 << 31,
    (1 << 32) - 1,
)
_METADATA_VALUES = (
    None,
    -1,
    0,
    1,
    1 << 40,
    10**400,
    1.5,
    "",
    "x",
    "\x1b[2J",
    "single_label",
    "tagging",
    "embedding",
    [],
    [8, 16],
    [1] * 300,
    {},
    True,
)

Draw = np.random.Generator


def damaged(data: bytes, kind: str, draw: Draw, others: Sequence[bytes] = ()) -> bytes:
    """Damage a file once.

    Args:
        data: The file.
        kind: One of `DAMAGES`.
        draw: The source of randomness.
        others: Files to take blocks from.
    """
    return _KINDS[kind](data, draw, others or [data])


def _bytes(data: bytes, draw: Draw, others: Sequence[bytes]) -> bytes:
    """Change some bytes, most of them in the graph rather than the weights."""
    changed = bytearray(data)
    for place in _places(data, draw, int(draw.integers(1, 6))):
        changed[place] = draw.integers(256)
    return bytes(changed)


def _word(data: bytes, draw: Draw, others: Sequence[bytes]) -> bytes:
    """Replace four aligned bytes by a number that often causes errors."""
    changed = bytearray(data)
    for place in _places(data, draw, int(draw.integers(1, 3))):
        place -= place % 4
        word = int(draw.choice(np.array(_NUMBERS, np.uint64))).to_bytes(4, "little")
        changed[place : place + 4] = word[: len(data) - place]
    return bytes(changed)


def _half_word(data: bytes, draw: Draw, others: Sequence[bytes]) -> bytes:
    """Replace two bytes."""
    changed, (place,) = bytearray(data), _places(data, draw, 1)
    changed[place : place + 2] = int(draw.choice((0, 1, 4, 8, 12, 255, 0x7FFF, 0xFFFF))).to_bytes(2, "little")
    return bytes(changed[: len(data)])


def _truncate(data: bytes, draw: Draw, others: Sequence[bytes]) -> bytes:
    return data[: int(draw.integers(len(data)))]


def _splice(data: bytes, draw: Draw, others: Sequence[bytes]) -> bytes:
    """Replace a block by one of another file."""
    other = others[int(draw.integers(len(others)))]
    size, start = int(draw.integers(1, 4096)), int(draw.integers(8, len(data)))
    source = int(draw.integers(len(other)))
    return data[:start] + other[source : source + size] + data[start + size :]


def _tensor(data: bytes, draw: Draw, others: Sequence[bytes]) -> bytes:
    """Change a tensor's shape, type, buffer or scales."""

    def change(content: Any) -> None:
        graph = _choose(content.subgraphs, draw)
        tensor = _choose(graph.tensors, draw)
        which = int(draw.integers(6))
        if which == 0 and tensor.shape is not None and len(tensor.shape):
            tensor.shape = np.array(tensor.shape)
            tensor.shape[draw.integers(len(tensor.shape))] = draw.choice(
                (-1, 0, 1, 3, 17, 4096, 1 << 20, (1 << 31) - 1)
            )
            tensor.shapeSignature = None
        elif which == 1:
            tensor.shape = draw.integers(0, 9, draw.integers(0, 10)).astype(np.int32)
            tensor.shapeSignature = None
        elif which == 2:
            tensor.type = int(draw.integers(0, 20))
        elif which == 3:
            tensor.buffer = int(draw.integers(0, len(content.buffers)))
        elif which == 4:
            tensor.quantization = _choose(graph.tensors, draw).quantization
        elif (
            tensor.quantization is not None and tensor.quantization.scale is not None and len(tensor.quantization.scale)
        ):
            tensor.quantization.scale = np.full_like(
                tensor.quantization.scale, draw.choice((0, -1, 1e-38, 3e38, np.nan, np.inf))
            )
            tensor.quantization.quantizedDimension = int(draw.integers(-1, 4))

    return _change_objects(data, change)


def _operator(data: bytes, draw: Draw, others: Sequence[bytes]) -> bytes:
    """Change an operator's inputs, outputs, code or options."""

    def change(content: Any) -> None:
        graph = _choose(content.subgraphs, draw)
        operator, other = _choose(graph.operators, draw), _choose(graph.operators, draw)
        which, side = int(draw.integers(6)), str(draw.choice(("inputs", "outputs")))
        ends = np.array(getattr(operator, side))
        if which == 0 and len(ends):
            ends[draw.integers(len(ends))] = draw.integers(-1, len(graph.tensors))
            setattr(operator, side, ends)
        elif which == 1:
            setattr(operator, side, ends[: int(draw.integers(0, len(ends) + 1))])
        elif which == 2:
            operator.opcodeIndex = other.opcodeIndex
        elif which == 3:
            operator.builtinOptionsType, operator.builtinOptions = other.builtinOptionsType, other.builtinOptions
        elif which == 4:
            graph.operators.remove(operator)
        else:
            _choose(content.operatorCodes, draw).version = int(draw.integers(0, 30))

    return _change_objects(data, change)


def _constant(data: bytes, draw: Draw, others: Sequence[bytes]) -> bytes:
    """Change a number of a small constant: a shape, an axis, a permutation or an index."""

    def change(content: Any) -> None:
        small = [buffer for buffer in content.buffers if buffer.data is not None and 0 < len(buffer.data) <= 64]
        buffer = _choose(small, draw)
        values = np.array(buffer.data, np.uint8)
        place = 4 * int(draw.integers(max(len(values) // 4, 1)))
        number = int(draw.choice(np.array((-2, -1, 0, 1, 2, 3, 5, 8, 100, 1 << 20, (1 << 31) - 1), np.int64)))
        values[place : place + 4] = np.frombuffer(
            number.to_bytes(8, "little", signed=True)[: len(values) - place][:4], np.uint8
        )
        buffer.data = values

    return _change_objects(data, change)


def _ends(data: bytes, draw: Draw, others: Sequence[bytes]) -> bytes:
    """Change a signature, or the inputs or outputs of a graph."""

    def change(content: Any) -> None:
        signature, graph = _choose(content.signatureDefs, draw), _choose(content.subgraphs, draw)
        ends = [*signature.inputs, *signature.outputs]
        which = int(draw.integers(4))
        if which == 0:
            _choose(ends, draw).tensorIndex = int(draw.integers(len(graph.tensors)))
        elif which == 1:
            _choose(ends, draw).name = str(draw.choice(("", "x", "input_ids", "probabilities", "embedding"))).encode()
        elif which == 2:
            graph.inputs = draw.integers(0, len(graph.tensors), draw.integers(0, 5)).astype(np.int32)
        else:
            graph.outputs = draw.integers(0, len(graph.tensors), draw.integers(0, 4)).astype(np.int32)

    return _change_objects(data, change)


def _metadata(data: bytes, draw: Draw, others: Sequence[bytes]) -> bytes:
    """Change the metadata, the vocabulary or the labels."""
    archive = zipfile.ZipFile(io.BytesIO(data))
    members = {member.filename: archive.read(member) for member in archive.infolist()}
    name = str(draw.choice(sorted(members)))
    text = bytearray(members[name])
    which = int(draw.integers(4))
    if which == 0:
        for place in draw.integers(0, len(text), 3):
            text[place] = draw.integers(256)
    elif which == 1:
        text = text[: int(draw.integers(len(text)))]
    elif which == 2 and name.endswith(".txt"):
        text = text.replace(b"\n", b"\n\x1b[2J\xc2\x85", 2)
    else:
        name = "kerasbert.json"
        settings = json.loads(members[name])
        target = settings if draw.integers(3) else settings["tokenizer"]
        target[str(draw.choice(sorted(target)))] = _METADATA_VALUES[int(draw.integers(len(_METADATA_VALUES)))]
        text = json.dumps(settings).encode()
    stream = io.BytesIO(data[: len(data) - packed_size(data)])
    with zipfile.ZipFile(stream, "a", zipfile.ZIP_STORED) as damaged_archive:
        for member, content in members.items():
            damaged_archive.writestr(zipfile.ZipInfo(member), bytes(text) if member == name else content)
    return stream.getvalue()


_KINDS: dict[str, Callable[[bytes, Draw, Sequence[bytes]], bytes]] = {
    "bytes": _bytes, "word": _word, "half": _half_word, "cut": _truncate, "splice": _splice, "tensor": _tensor, "operator": _operator,
    "constant": _constant, "ends": _ends, "card": _metadata,
}  # fmt: skip
DAMAGES = tuple(_KINDS)


def _places(data: bytes, draw: Draw, count: int) -> list[int]:
    """Draw offsets after the file identifier; the first one mostly near the end of the FlatBuffer, where its tables are."""
    end = max(len(data) - packed_size(data), 16)
    tables = int(draw.integers(max(end - 24_000, 8), end)) if draw.integers(4) else int(draw.integers(8, end))
    return [tables, *map(int, draw.integers(8, end, count - 1))]


def _choose(items: Sequence, draw: Draw) -> Any:
    return items[int(draw.integers(len(items)))]


def _change_objects(data: bytes, change: Callable[[Any], None]) -> bytes:
    """Change the decoded objects of a file and append its archive again."""
    size = packed_size(data)
    content = decode(data[: len(data) - size])
    change(content)
    archive = zipfile.ZipFile(io.BytesIO(data))
    stream = io.BytesIO(encode(content))
    with zipfile.ZipFile(stream, "a", zipfile.ZIP_STORED) as new_archive:
        for member in archive.infolist():
            new_archive.writestr(zipfile.ZipInfo(member.filename), archive.read(member))
    return stream.getvalue()
