"""Verifies a `.tflite` FlatBuffer as TensorFlow Lite's C++ verifier does: every offset, table and vector is inside the file.

Interpreters follow offsets without checking them, and Python's reader counts a negative offset from the end. The layout is that of TFLite's
`schema.fbs` (version 3). An operator's options are verified as a table, with those vectors that kernels read.
"""

import struct
from typing import TypeAlias

_INT8, _UINT16, _INT32, _UINT32 = struct.Struct("<b"), struct.Struct("<H"), struct.Struct("<i"), struct.Struct("<I")
STRING = -1
OPTIONS = "Options"

# The kind of a field: bytes of a number, (bytes of an element,) for a vector of numbers, a table's name, [a table's name] for a vector of
# tables, or STRING.
Field: TypeAlias = int | tuple[int] | str | list[str]

# Table -> slot of its vtable -> kind of the field.
LAYOUT: dict[str, dict[int, Field]] = {
    "Model": {4: 4, 6: ["OperatorCode"], 8: ["SubGraph"], 10: STRING, 12: ["Buffer"], 14: (4,), 16: ["Metadata"], 18: ["SignatureDef"]},
    "OperatorCode": {4: 1, 6: STRING, 8: 4, 10: 4},
    "SubGraph": {4: ["Tensor"], 6: (4,), 8: (4,), 10: ["Operator"], 12: STRING, 14: 4},
    "Tensor": {
        4: (4,), 6: 1, 8: 4, 10: STRING, 12: "QuantizationParameters", 14: 1, 16: "SparsityParameters", 18: (4,), 20: 1,
        22: ["VariantSubType"], 24: 4,
    },
    "QuantizationParameters": {4: (4,), 6: (4,), 8: (4,), 10: (8,), 12: 1, 14: "Details", 16: 4},
    "Details": {4: 4, 6: 4, 8: 4},
    "SparsityParameters": {4: (4,), 6: (4,), 8: ["DimensionMetadata"]},
    "DimensionMetadata": {4: 1, 6: 4, 8: 1, 10: "SparseVector", 12: 1, 14: "SparseVector"},
    "SparseVector": {4: (1,)},
    "VariantSubType": {4: (4,), 6: 1, 8: 1},
    "Operator": {
        4: 4, 6: (4,), 8: (4,), 10: 1, 12: OPTIONS, 14: (1,), 16: 1, 18: (1,), 20: (4,), 22: 8, 24: 8, 26: 1, 28: OPTIONS, 30: 4,
    },
    "ReshapeOptions": {4: (4,)},
    "SqueezeOptions": {4: (4,)},
    OPTIONS: {},
    "Buffer": {4: (1,), 6: 8, 8: 8},
    "Metadata": {4: STRING, 6: 4},
    "SignatureDef": {4: ["TensorMap"], 6: ["TensorMap"], 8: STRING, 12: 4},
    "TensorMap": {4: STRING, 6: 4},
}  # fmt: skip
_OPTIONS_TYPE = 10
OPTIONS_WITH_VECTORS = {17: "ReshapeOptions", 30: "SqueezeOptions"}  # by their value in `BuiltinOptions`


class Malformed(ValueError):
    """A FlatBuffer with an invalid offset; the message describes it."""


def verify(data: bytes) -> None:
    """Follow every offset of a `.tflite` from its root.

    Raises:
        Malformed: when an offset leads out of the file.
    """
    _Verifier(data).table("Model", 0)


class _Verifier:
    """One pass over a file, which verifies a table once even if several others point to it."""

    def __init__(self, data: bytes):
        self.data, self.size = data, len(data)
        self.seen: set[tuple[str, int]] = set()

    def table(self, kind: str, at: int) -> None:
        """Verify a table and everything that it points to.

        Args:
            kind: The table's name in the schema.
            at: The position of the offset that points to the table.
        """
        place = at + self._number(_UINT32, at)
        if (kind, place) in self.seen:
            return
        self.seen.add((kind, place))
        vtable = place - self._number(_INT32, place)
        slots, length = self._number(_UINT16, vtable), self._number(_UINT16, vtable + 2)
        if slots < 4 or slots % 2 or length < 4 or vtable + slots > self.size or place + length > self.size:
            raise Malformed(f"a {kind} whose table does not fit at byte {place}")
        lowering = LAYOUT[kind]
        for slot in range(4, slots, 2):
            offset = self._number(_UINT16, vtable + slot)
            field = lowering.get(slot, 1)
            width = field if isinstance(field, int) and field > 0 else 4
            if offset and (offset < 4 or offset + width > length):
                raise Malformed(f"a {kind} with a field outside its table at byte {place}")
            if offset and (not isinstance(field, int) or field == STRING):
                self._field(field, place, place + offset, vtable, slots)

    def _field(self, field: Field, place: int, at: int, vtable: int, slots: int) -> None:
        if isinstance(field, int):  # a number is verified with its table: this is a STRING
            start, count = self._vector(at, 1)
            if start + count >= self.size or self.data[start + count]:
                raise Malformed(f"a text without its end at byte {start}")
        elif field == OPTIONS:
            self.table(self._options(place, vtable, slots), at)
        elif isinstance(field, str):
            self.table(field, at)
        elif isinstance(field, tuple):
            self._vector(at, field[0])
        else:
            start, count = self._vector(at, 4)
            for number in range(count):
                self.table(field[0], start + 4 * number)

    def _options(self, place: int, vtable: int, slots: int) -> str:
        """Return the table name of an operator's options."""
        offset = self._number(_UINT16, vtable + _OPTIONS_TYPE) if slots > _OPTIONS_TYPE else 0
        kind = self._number(_INT8, place + offset) if offset else 0
        return OPTIONS_WITH_VECTORS.get(kind, OPTIONS)

    def _vector(self, at: int, width: int) -> tuple[int, int]:
        """Return the position of a vector's first element and the number of elements."""
        place = at + self._number(_UINT32, at)
        count = self._number(_UINT32, place)
        if place + 4 + count * width > self.size:
            raise Malformed(f"a vector of {count} entries at byte {place}, past the end")
        return place + 4, count

    def _number(self, kind: struct.Struct, place: int) -> int:
        if not 0 <= place <= self.size - kind.size:
            raise Malformed(f"an offset to byte {place}, outside the file")
        return kind.unpack_from(self.data, place)[0]
