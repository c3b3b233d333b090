"""Small `.tflite` files made wrong on purpose: in their bytes, in the objects of their graph, in the archive behind it."""

import io
import json
import zipfile
from collections.abc import Callable, Sequence

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
_CELLS = (
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
    """The file with one damage of a kind of `DAMAGES`. others: files to take pieces of."""
    return _KINDS[kind](data, draw, others or [data])


def _bytes(data: bytes, draw: Draw, others) -> bytes:
    """Some bytes, most of them in the graph and not in the weights."""
    changed = bytearray(data)
    for place in _places(data, draw, int(draw.integers(1, 6))):
        changed[place] = draw.integers(256)
    return bytes(changed)


def _word(data: bytes, draw: Draw, others) -> bytes:
    """Four bytes that lie as numbers do, with a number that programs stumble over."""
    changed = bytearray(data)
    for place in _places(data, draw, int(draw.integers(1, 3))):
        place -= place % 4
        word = int(draw.choice(np.array(_NUMBERS, np.uint64))).to_bytes(4, "little")
        changed[place : place + 4] = word[: len(data) - place]
    return bytes(changed)


def _half(data: bytes, draw: Draw, others) -> bytes:
    """Two bytes."""
    changed, (place,) = bytearray(data), _places(data, draw, 1)
    changed[place : place + 2] = int(draw.choice((0, 1, 4, 8, 12, 255, 0x7FFF, 0xFFFF))).to_bytes(2, "little")
    return bytes(changed[: len(data)])


def _cut(data: bytes, draw: Draw, others) -> bytes:
    return data[: int(draw.integers(len(data)))]


def _splice(data: bytes, draw: Draw, others) -> bytes:
    """A block of one file in another one's place."""
    other = others[int(draw.integers(len(others)))]
    size, start = int(draw.integers(1, 4096)), int(draw.integers(8, len(data)))
    source = int(draw.integers(len(other)))
    return data[:start] + other[source : source + size] + data[start + size :]


def _shape(data: bytes, draw: Draw, others) -> bytes:
    """A tensor's shape, type, buffer or scales."""

    def change(content):
        graph = _one(content.subgraphs, draw)
        tensor = _one(graph.tensors, draw)
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
            tensor.quantization = _one(graph.tensors, draw).quantization
        elif (
            tensor.quantization is not None and tensor.quantization.scale is not None and len(tensor.quantization.scale)
        ):
            tensor.quantization.scale = np.full_like(
                tensor.quantization.scale, draw.choice((0, -1, 1e-38, 3e38, np.nan, np.inf))
            )
            tensor.quantization.quantizedDimension = int(draw.integers(-1, 4))

    return _changed(data, change)


def _operator(data: bytes, draw: Draw, others) -> bytes:
    """An operator's inputs, outputs, code or options."""

    def change(content):
        graph = _one(content.subgraphs, draw)
        operator, other = _one(graph.operators, draw), _one(graph.operators, draw)
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
            _one(content.operatorCodes, draw).version = int(draw.integers(0, 30))

    return _changed(data, change)


def _constant(data: bytes, draw: Draw, others) -> bytes:
    """A number in a small constant, which is a shape, an axis, a permutation or an index."""

    def change(content):
        small = [buffer for buffer in content.buffers if buffer.data is not None and 0 < len(buffer.data) <= 64]
        buffer = _one(small, draw)
        values = np.array(buffer.data, np.uint8)
        place = 4 * int(draw.integers(max(len(values) // 4, 1)))
        number = int(draw.choice(np.array((-2, -1, 0, 1, 2, 3, 5, 8, 100, 1 << 20, (1 << 31) - 1), np.int64)))
        values[place : place + 4] = np.frombuffer(
            number.to_bytes(8, "little", signed=True)[: len(values) - place][:4], np.uint8
        )
        buffer.data = values

    return _changed(data, change)


def _ends(data: bytes, draw: Draw, others) -> bytes:
    """A signature, or what a graph starts and ends with."""

    def change(content):
        signature, graph = _one(content.signatureDefs, draw), _one(content.subgraphs, draw)
        ends = [*signature.inputs, *signature.outputs]
        which = int(draw.integers(4))
        if which == 0:
            _one(ends, draw).tensorIndex = int(draw.integers(len(graph.tensors)))
        elif which == 1:
            _one(ends, draw).name = str(draw.choice(("", "x", "input_ids", "probabilities", "embedding"))).encode()
        elif which == 2:
            graph.inputs = draw.integers(0, len(graph.tensors), draw.integers(0, 5)).astype(np.int32)
        else:
            graph.outputs = draw.integers(0, len(graph.tensors), draw.integers(0, 4)).astype(np.int32)

    return _changed(data, change)


def _card(data: bytes, draw: Draw, others) -> bytes:
    """The card, the vocabulary or the labels behind the graph."""
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
        card = json.loads(members[name])
        holder = card if draw.integers(3) else card["tokenizer"]
        holder[str(draw.choice(sorted(holder)))] = _CELLS[int(draw.integers(len(_CELLS)))]
        text = json.dumps(card).encode()
    stream = io.BytesIO(data[: len(data) - packed_size(data)])
    with zipfile.ZipFile(stream, "a", zipfile.ZIP_STORED) as whole:
        for each, content in members.items():
            whole.writestr(zipfile.ZipInfo(each), bytes(text) if each == name else content)
    return stream.getvalue()


_KINDS: dict[str, Callable[[bytes, Draw, Sequence[bytes]], bytes]] = {
    "bytes": _bytes, "word": _word, "half": _half, "cut": _cut, "splice": _splice, "tensor": _shape, "operator": _operator,
    "constant": _constant, "ends": _ends, "card": _card,
}  # fmt: skip
DAMAGES = tuple(_KINDS)


def _places(data: bytes, draw: Draw, count: int) -> list[int]:
    """Offsets behind the identifier: three of four in the last part of the FlatBuffer or its first, where tables stand."""
    end = max(len(data) - packed_size(data), 16)
    tables = int(draw.integers(max(end - 24_000, 8), end)) if draw.integers(4) else int(draw.integers(8, end))
    return [tables, *map(int, draw.integers(8, end, count - 1))]


def _one(things: Sequence, draw: Draw):
    return things[int(draw.integers(len(things)))]


def _changed(data: bytes, change: Callable[[object], None]) -> bytes:
    """The file with changed objects, and its archive again behind them."""
    size = packed_size(data)
    content = decode(data[: len(data) - size])
    change(content)
    archive = zipfile.ZipFile(io.BytesIO(data))
    stream = io.BytesIO(encode(content))
    with zipfile.ZipFile(stream, "a", zipfile.ZIP_STORED) as whole:
        for member in archive.infolist():
            whole.writestr(zipfile.ZipInfo(member.filename), archive.read(member))
    return stream.getvalue()
