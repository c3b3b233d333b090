"""Verifies a `.tflite` FlatBuffer as TensorFlow Lite's C++ verifier would: every offset, table and vector lies inside the file.

Interpreters follow offsets without looking, and Python's reader counts a negative one from the end. The layout is that of TFLite's
`schema.fbs` (version 3); of an operator's options the table is verified, and the vectors that kernels read.
"""

import struct

_INT8, _UINT16, _INT32, _UINT32 = struct.Struct("<b"), struct.Struct("<H"), struct.Struct("<i"), struct.Struct("<I")
_STRING = (
    -1
)  # a kind of field beside tables (by name), [vectors of tables] and the bytes of a number or (vector element)
_OPTIONS = "Options"

# Table -> slot of its vtable -> what stands there: bytes of a number, (bytes of an element,) of a vector of numbers, a table's name,
# [a table's name] of a vector of tables, or _STRING.
_LAYOUT = {
    "Model": {4: 4, 6: ["OperatorCode"], 8: ["SubGraph"], 10: _STRING, 12: ["Buffer"], 14: (4,), 16: ["Metadata"], 18: ["SignatureDef"]},
    "OperatorCode": {4: 1, 6: _STRING, 8: 4, 10: 4},
    "SubGraph": {4: ["Tensor"], 6: (4,), 8: (4,), 10: ["Operator"], 12: _STRING, 14: 4},
    "Tensor": {
        4: (4,), 6: 1, 8: 4, 10: _STRING, 12: "QuantizationParameters", 14: 1, 16: "SparsityParameters", 18: (4,), 20: 1,
        22: ["VariantSubType"], 24: 4,
    },
    "QuantizationParameters": {4: (4,), 6: (4,), 8: (4,), 10: (8,), 12: 1, 14: "Details", 16: 4},
    "Details": {},
    "SparsityParameters": {4: (4,), 6: (4,), 8: ["DimensionMetadata"]},
    "DimensionMetadata": {4: 1, 6: 4, 8: 1, 10: "SparseVector", 12: 1, 14: "SparseVector"},
    "SparseVector": {4: (1,)},
    "VariantSubType": {4: (4,), 6: 1, 8: 1},
    "Operator": {
        4: 4, 6: (4,), 8: (4,), 10: 1, 12: _OPTIONS, 14: (1,), 16: 1, 18: (1,), 20: (4,), 22: 8, 24: 8, 26: 1, 28: _OPTIONS, 30: 4,
    },
    "ReshapeOptions": {4: (4,)},
    "SqueezeOptions": {4: (4,)},
    _OPTIONS: {},
    "Buffer": {4: (1,), 6: 8, 8: 8},
    "Metadata": {4: _STRING, 6: 4},
    "SignatureDef": {4: ["TensorMap"], 6: ["TensorMap"], 8: _STRING, 12: 4},
    "TensorMap": {4: _STRING, 6: 4},
}  # fmt: skip
_OPTIONS_TYPE = 10
_OPTIONS_WITH_VECTORS = {17: "ReshapeOptions", 30: "SqueezeOptions"}  # by their number in `BuiltinOptions`


class Malformed(ValueError):
    """What is wrong with a FlatBuffer."""


def verify(data: bytes) -> None:
    """Follows every offset of a `.tflite` from its root. Raises Malformed for one that leads out of the file."""
    _Verifier(data).table("Model", 0)


class _Verifier:
    """One pass; a table that several others point to is looked at once."""

    def __init__(self, data: bytes):
        self.data, self.size, self.seen = data, len(data), set()

    def table(self, kind: str, at: int) -> None:
        """at: where the offset of a table of this kind stands."""
        place = at + self._number(_UINT32, at)
        if (kind, place) in self.seen:
            return
        self.seen.add((kind, place))
        vtable = place - self._number(_INT32, place)
        slots, length = self._number(_UINT16, vtable), self._number(_UINT16, vtable + 2)
        if slots < 4 or slots % 2 or length < 4 or vtable + slots > self.size or place + length > self.size:
            raise Malformed(f"a {kind} whose table does not fit at byte {place}")
        layout = _LAYOUT[kind]
        for slot in range(4, slots, 2):
            offset = self._number(_UINT16, vtable + slot)
            what = layout.get(slot, 1)
            width = what if type(what) is int and what > 0 else 4
            if offset and (offset < 4 or offset + width > length):
                raise Malformed(f"a {kind} with a field outside its table at byte {place}")
            if offset and (type(what) is not int or what == _STRING):
                self._field(what, place, place + offset, vtable, slots)

    def _field(self, what, place: int, at: int, vtable: int, slots: int) -> None:
        if what == _STRING:
            start, count = self._vector(at, 1)
            if start + count >= self.size or self.data[start + count]:
                raise Malformed(f"a text without its end at byte {start}")
        elif what == _OPTIONS:
            self.table(self._options(place, vtable, slots), at)
        elif isinstance(what, str):
            self.table(what, at)
        elif isinstance(what, tuple):
            self._vector(at, what[0])
        else:
            start, count = self._vector(at, 4)
            for number in range(count):
                self.table(what[0], start + 4 * number)

    def _options(self, place: int, vtable: int, slots: int) -> str:
        """Which options an operator has."""
        offset = self._number(_UINT16, vtable + _OPTIONS_TYPE) if slots > _OPTIONS_TYPE else 0
        kind = self._number(_INT8, place + offset) if offset else 0
        return _OPTIONS_WITH_VECTORS.get(kind, _OPTIONS)

    def _vector(self, at: int, width: int) -> tuple[int, int]:
        """Where its elements begin, and how many there are."""
        place = at + self._number(_UINT32, at)
        count = self._number(_UINT32, place)
        if place + 4 + count * width > self.size:
            raise Malformed(f"a vector of {count} entries at byte {place}, past the end")
        return place + 4, count

    def _number(self, kind: struct.Struct, place: int) -> int:
        if not 0 <= place <= self.size - kind.size:
            raise Malformed(f"an offset to byte {place}, outside the file")
        return kind.unpack_from(self.data, place)[0]
