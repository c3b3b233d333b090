"""Restricted unpickler for descriptions of tensors.

A pickle is a program for a stack machine, and Python's machine imports and calls any name in the program. This one supports only the
instructions and the few names that `torch.save` writes. It imports nothing, calls nothing that a file chooses, and returns plain data:
dicts, lists, tuples, numbers, strings, and `TensorView`s. Source: the opcodes' descriptions in Python's `pickletools`.
"""

import math
import pickletools
import warnings
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from kerasbert.checkpoints.messages import mismatch, one_line, short_repr
from kerasbert.errors import KerasBertError

MAX_PICKLE_BYTES = 8 * 2**20  # BERT-large's has 60 kB


class StorageKind(NamedTuple):
    """A storage class of PyTorch, such as `torch.HalfStorage`.

    Attributes:
        name: of the element type, such as "F16".
        item_bytes: bytes of one element.
    """

    name: str
    item_bytes: int


class Storage(NamedTuple):
    """A contiguous block of elements in the file.

    Attributes:
        key: its name in the file.
        kind: its element type.
        count: its number of elements.
    """

    key: str
    kind: StorageKind
    count: int


class TensorView(NamedTuple):
    """A tensor as PyTorch stores it: a strided view of a storage. Offset and strides are in elements, not bytes."""

    storage: Storage
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


class _Constructor(NamedTuple):
    """A name that the pickle calls; `build` makes plain data from the arguments instead."""

    name: str
    build: Callable[[Path, tuple], Any]


_MARK = object()
_KINDS = {
    **{"torch.FloatStorage": ("F32", 4), "torch.HalfStorage": ("F16", 2), "torch.BFloat16Storage": ("BF16", 2)},
    **{"torch.DoubleStorage": ("F64", 8), "torch.LongStorage": ("I64", 8), "torch.IntStorage": ("I32", 4)},
    **{"torch.ShortStorage": ("I16", 2), "torch.CharStorage": ("I8", 1), "torch.ByteStorage": ("U8", 1)},
    "torch.BoolStorage": ("BOOL", 1),
}
_MAX_DIMENSIONS = 32
_DAMAGED = "the file is damaged, get it again"
_VALUES = {"BININT", "BININT1", "BININT2", "LONG1", "BINFLOAT", "BINUNICODE", "SHORT_BINUNICODE"}
_VALUES |= {"BINSTRING", "SHORT_BINSTRING"}  # written by Python 2


def read_pickle(path: Path, file: BinaryIO, remaining: int) -> Any:
    """Read one pickle and move the file to its end.

    Args:
        path: the file's path, for errors.
        file: the file, at the start of the pickle.
        remaining: bytes from there to the file's end.

    Raises:
        KerasBertError: when the pickle is damaged or too long, or holds an instruction or a name that is not supported.
    """
    start = file.tell()
    # A length inside the pickle cannot allocate more than these bytes.
    content = BytesIO(file.read(min(remaining, MAX_PICKLE_BYTES)))
    machine = _Machine(path)
    try:
        with warnings.catch_warnings(action="ignore"):  # about escapes in a string that Python 1 wrote
            for opcode, argument, _ in pickletools.genops(content):
                machine.run(opcode.name, argument)
        file.seek(start + content.tell())
    except KerasBertError:
        raise
    except (ValueError, IndexError, KeyError, TypeError) as error:
        raise mismatch(path, "a pickle as torch.save writes it", one_line(error), _DAMAGED) from error
    return machine.result


def brief_repr(value: Any) -> str:
    """Return a short `repr` of data from a hostile pickle, whose nested lists may be huge when written out."""
    return short_repr(value)[:200]


class _Machine:
    """The stack machine: a stack of plain data and marks, and a memo. STOP sets `result`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.result: Any = None
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}

    def run(self, opcode: str, argument: Any) -> None:
        """Run one instruction, named as in `pickletools`."""
        if opcode in _PUSHES:
            self.stack.append(_PUSHES[opcode](self, argument))
        elif opcode in _CHANGES:
            _CHANGES[opcode](self, argument)
        else:
            raise mismatch(self.path, "a pickle of plain tensors", f"the instruction {opcode}", "it is not run")

    def pop(self, count: int) -> list[Any]:
        values = self.stack[-count:]
        if len(values) < count or any(value is _MARK for value in values):
            raise IndexError("the stack is empty")
        del self.stack[-count:]
        return values

    def pop_to_mark(self) -> list[Any]:
        for index in range(len(self.stack) - 1, -1, -1):
            if self.stack[index] is _MARK:
                values = self.stack[index + 1 :]
                del self.stack[index:]
                return values
        raise IndexError("no mark on the stack")

    def remember(self, place: int) -> None:
        self.memo[place] = self.stack[-1]

    def stop(self) -> None:
        (self.result,) = self.pop(1)

    def extend_list(self, values: list[Any]) -> None:
        """Append values to the list on top."""
        if type(self.stack[-1]) is not list:
            raise TypeError("APPEND without a list")
        self.stack[-1].extend(values)

    def update_dict(self, keys_and_values: list[Any]) -> None:
        """Add alternating keys and values to the dict on top."""
        target, keys = self.stack[-1], keys_and_values[::2]
        # Tuples are valid keys in Python, but hashing nested ones can take for ever.
        if type(target) is not dict or len(keys_and_values) % 2 or not all(type(key) in (str, int) for key in keys):
            raise TypeError("SETITEM without a dict with strings as keys")
        target.update(zip(keys, keys_and_values[1::2], strict=True))


_Instruction = Callable[[_Machine, Any], Any]
# Instructions that push what they return.
_PUSHES: dict[str, _Instruction] = {
    **dict.fromkeys(_VALUES, lambda machine, argument: argument),
    "NONE": lambda machine, _: None,
    "NEWTRUE": lambda machine, _: True,
    "NEWFALSE": lambda machine, _: False,
    "MARK": lambda machine, _: _MARK,
    "EMPTY_TUPLE": lambda machine, _: (),
    "EMPTY_LIST": lambda machine, _: [],
    "EMPTY_DICT": lambda machine, _: {},
    "TUPLE1": lambda machine, _: tuple(machine.pop(1)),
    "TUPLE2": lambda machine, _: tuple(machine.pop(2)),
    "TUPLE3": lambda machine, _: tuple(machine.pop(3)),
    "TUPLE": lambda machine, _: tuple(machine.pop_to_mark()),
    **dict.fromkeys(("BINGET", "LONG_BINGET"), lambda machine, place: machine.memo[place]),
    "GLOBAL": lambda machine, name: _resolve_name(machine.path, name.replace(" ", ".", 1)),
    "STACK_GLOBAL": lambda machine, _: _resolve_name(machine.path, ".".join(map(_string, machine.pop(2)))),
    "BINPERSID": lambda machine, _: _storage(machine.path, *machine.pop(1)),
    "REDUCE": lambda machine, _: _construct(machine.path, *machine.pop(2)),
    "BUILD": lambda machine, _: _drop_attributes(*machine.pop(2)),
}
_CHANGES: dict[str, _Instruction] = {
    "APPEND": lambda machine, _: machine.extend_list(machine.pop(1)),
    "APPENDS": lambda machine, _: machine.extend_list(machine.pop_to_mark()),
    "SETITEM": lambda machine, _: machine.update_dict(machine.pop(2)),
    "SETITEMS": lambda machine, _: machine.update_dict(machine.pop_to_mark()),
    **dict.fromkeys(("BINPUT", "LONG_BINPUT"), lambda machine, place: machine.remember(place)),
    "MEMOIZE": lambda machine, _: machine.remember(len(machine.memo)),
    "STOP": lambda machine, _: machine.stop(),
    **dict.fromkeys(("PROTO", "FRAME"), lambda machine, _: None),
}


def _construct(path: Path, constructor: Any, arguments: Any) -> Any:
    if not isinstance(constructor, _Constructor) or not isinstance(arguments, tuple):
        raise TypeError("REDUCE without a name and a tuple")
    return constructor.build(path, arguments)


def _drop_attributes(target: Any, attributes: Any) -> dict:
    """A state dict without its attributes: `_metadata`, the versions of its modules."""
    if type(target) is not dict:
        raise TypeError("BUILD without a dict")
    return target


def _resolve_name(path: Path, name: str) -> _Constructor | StorageKind:
    if name in _KINDS:
        return StorageKind(*_KINDS[name])
    if name not in _BUILDERS:
        advice = "nothing in it is run; if you trust it, convert it to safetensors with transformers' save_pretrained"
        raise mismatch(path, "plain tensors", f"a pickle that asks for {short_repr(name)}", advice)
    return _Constructor(name, _BUILDERS[name])


def _ordered_dict(path: Path, arguments: tuple) -> dict:
    """Arguments: none, if later instructions fill the dict, or a list of pairs, as Python 2 writes it."""
    pairs = arguments[0] if arguments else []
    if len(arguments) > 1 or type(pairs) is not list or not all(_is_pair(pair) for pair in pairs):
        raise mismatch(path, "a list of pairs for an OrderedDict", brief_repr(arguments), _DAMAGED)
    return dict(pairs)


def _parameter(path: Path, arguments: tuple) -> TensorView:
    """Arguments: tensor, requires_grad, backward_hooks."""
    if not arguments or type(arguments[0]) is not TensorView:
        raise mismatch(path, "a parameter's tensor", brief_repr(arguments), _DAMAGED)
    return arguments[0]


def _tensor(path: Path, arguments: tuple) -> TensorView:
    """Arguments: storage, offset, shape, strides and more. The view must be inside its storage."""
    if len(arguments) < 4:
        raise mismatch(path, "a tensor's storage, offset, shape and strides", brief_repr(arguments), _DAMAGED)
    storage, offset, shape, strides = arguments[:4]
    where = f"{path}: a tensor"
    if type(storage) is not Storage:
        raise mismatch(where, "a storage", brief_repr(storage), _DAMAGED)
    if not _is_count(offset) or not _are_counts(shape) or not _are_counts(strides) or len(shape) != len(strides):
        received = f"{short_repr(offset)}, {short_repr(shape)} and {short_repr(strides)}"
        raise mismatch(where, "offset, shape and strides as whole numbers", received, _DAMAGED)
    size = math.prod(shape)
    last_element = offset + sum((length - 1) * stride for length, stride in zip(shape, strides, strict=True))
    # With strides of 0, a view can be larger than its storage. Checkpoints have no such views, and a huge one would exhaust memory.
    if size and (last_element >= storage.count or size > storage.count) or offset > storage.count:
        received = f"offset {short_repr(offset)}, shape {short_repr(shape)}, strides {short_repr(strides)}"
        raise mismatch(where, f"a view inside its storage of {storage.count} numbers", received, _DAMAGED)
    return TensorView(storage, offset, shape, strides)


def _storage(path: Path, reference: Any) -> Storage:
    """Reference: ("storage", kind, key, device, count). Older files add None, or a view of the storage, which is not supported."""
    if (
        type(reference) is not tuple
        or len(reference) not in (5, 6)
        or reference[0] != "storage"
        or type(reference[1]) is not StorageKind
        or type(reference[2]) is not str
        or not _is_count(reference[4])
        or reference[5:] not in ((), (None,))
    ):
        raise mismatch(path, "a reference to a storage", brief_repr(reference), _DAMAGED)
    return Storage(reference[2], reference[1], reference[4])


_BUILDERS = {
    "collections.OrderedDict": _ordered_dict,
    "torch._utils._rebuild_tensor": _tensor,
    "torch._utils._rebuild_tensor_v2": _tensor,
    "torch._utils._rebuild_parameter": _parameter,
}


def _is_pair(value: Any) -> bool:
    return type(value) in (list, tuple) and len(value) == 2 and type(value[0]) is str


def _string(value: Any) -> str:
    if type(value) is not str:
        raise TypeError("a name that is not a string")
    return value


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**63


def _are_counts(values: Any) -> bool:
    return type(values) is tuple and len(values) <= _MAX_DIMENSIONS and all(_is_count(value) for value in values)
