"""Pickles that describe tensors, read without running them.

A pickle is a program for a stack machine, and Python's own machine imports and calls whatever the program names. This one knows only the
instructions that `torch.save` writes, and the few names in them; it imports nothing, calls nothing that a file chose, and ends with plain
data: dicts, lists, tuples, numbers, texts, and `TensorView`s. Source: the opcodes' descriptions in Python's `pickletools`.
"""

import pickletools
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from kerasbert.checkpoints.messages import mismatch, one_line, shown
from kerasbert.errors import KerasBertError

MAX_PICKLE_BYTES = 8 * 2**20  # BERT-large's has 60 kB


class StorageKind(NamedTuple):
    """A storage class of PyTorch, such as `torch.HalfStorage`: its numbers' name, and the bytes of each."""

    name: str
    item_bytes: int


class Storage(NamedTuple):
    """A run of numbers in the file: which, of what kind, how many."""

    key: str
    kind: StorageKind
    count: int


class TensorView(NamedTuple):
    """A tensor as PyTorch stores it: a strided view of a storage; offset and strides count numbers, not bytes."""

    storage: Storage
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


class _Named(NamedTuple):
    """What the pickle calls by name instead of holding it; `build` makes data of its arguments."""

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
_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_VALUES = {"BININT", "BININT1", "BININT2", "LONG1", "BINFLOAT", "BINUNICODE", "SHORT_BINUNICODE"}
_VALUES |= {"BINSTRING", "SHORT_BINSTRING"}  # written by Python 2
_SHORT_TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}


def read_pickle(path: Path, file: BinaryIO, remaining: int) -> Any:
    """One pickle from `file`, which then stands behind it. path: for messages. remaining: bytes left in the file.

    Raises KerasBertError for any other instruction or name, a damaged or overlong pickle.
    """
    reader = _Bounded(file, min(remaining, MAX_PICKLE_BYTES))
    machine = _Machine(path)
    try:
        with warnings.catch_warnings(action="ignore"):  # about escapes in a text that Python 1 wrote
            for opcode, argument, _ in pickletools.genops(reader):
                machine.run(opcode.name, argument)
    except KerasBertError:
        raise
    except (ValueError, IndexError, KeyError, TypeError) as error:
        raise mismatch(path, "a pickle as torch.save writes it", one_line(error), "the file is damaged") from error
    return machine.result


def brief(value: Any) -> str:
    """Data out of a hostile pickle on one line: nests of it stay short, however large they would be written out."""
    return shown(value)[:200]


class _Bounded:
    """A file of which no more than `left` bytes can be asked for: a length in a hostile pickle allocates nothing."""

    def __init__(self, file: BinaryIO, left: int):
        self.file, self.left, self.position = file, left, 0

    def read(self, count: int) -> bytes:
        if not 0 <= count <= self.left:
            raise ValueError(f"{count} bytes asked for, {self.left} left")
        return self._taken(self.file.read(count))

    def readline(self) -> bytes:
        return self._taken(self.file.readline(min(self.left, 10_000)))

    def tell(self) -> int:
        return self.position

    def _taken(self, data: bytes) -> bytes:
        self.left -= len(data)
        self.position += len(data)
        return data


class _Machine:
    """The stack machine; `result` is there once STOP has run."""

    def __init__(self, path: Path):
        self.path, self.result = path, None
        self.stack: list = []
        self.memo: dict[int, Any] = {}

    def run(self, opcode: str, argument: Any) -> None:
        if opcode in _VALUES:
            self.stack.append(argument)
        elif opcode in _CONSTANTS:
            self.stack.append(_CONSTANTS[opcode])
        elif opcode in _SHORT_TUPLES:
            self.stack.append(tuple(self._popped(_SHORT_TUPLES[opcode])))
        elif handler := _HANDLERS.get(opcode):
            handler(self, argument)
        elif opcode not in ("PROTO", "FRAME"):
            raise mismatch(self.path, "a pickle of plain tensors", f"the instruction {opcode}", "it is not run")

    def get(self, index: int) -> None:
        self.stack.append(self.memo[index])

    def put(self, index: int) -> None:
        self.memo[index] = self.stack[-1]

    def memoize(self, _) -> None:
        self.memo[len(self.memo)] = self.stack[-1]

    def mark(self, _) -> None:
        self.stack.append(_MARK)

    def empty_tuple(self, _) -> None:
        self.stack.append(())

    def empty_list(self, _) -> None:
        self.stack.append([])

    def empty_dict(self, _) -> None:
        self.stack.append({})

    def tuple_to_mark(self, _) -> None:
        self.stack.append(tuple(self._since_mark()))

    def append(self, _) -> None:
        self._extend(self._popped(1))

    def appends(self, _) -> None:
        self._extend(self._since_mark())

    def set_item(self, _) -> None:
        self._update(self._popped(2))

    def set_items(self, _) -> None:
        self._update(self._since_mark())

    def global_name(self, argument: str) -> None:
        self.stack.append(_named(self.path, argument.replace(" ", ".", 1)))

    def stack_global(self, _) -> None:
        module, name = self._popped(2)
        self.stack.append(_named(self.path, f"{_text(module)}.{_text(name)}"))

    def persistent(self, _) -> None:
        self.stack.append(_storage(self.path, *self._popped(1)))

    def reduce(self, _) -> None:
        what, arguments = self._popped(2)
        if not isinstance(what, _Named) or not isinstance(arguments, tuple):
            raise TypeError("REDUCE of what is not a name and a tuple")
        self.stack.append(what.build(self.path, arguments))

    def build(self, _) -> None:
        """A state dict's attributes, `_metadata`: versions of its modules, of no use here."""
        target, _ = self._popped(2)
        if type(target) is not dict:
            raise TypeError("BUILD of what is not a dict")
        self.stack.append(target)

    def stop(self, _) -> None:
        (self.result,) = self._popped(1)

    def _popped(self, count: int) -> list:
        values = self.stack[-count:]
        if len(values) < count or any(value is _MARK for value in values):
            raise IndexError("the stack is empty")
        del self.stack[-count:]
        return values

    def _since_mark(self) -> list:
        for place in range(len(self.stack) - 1, -1, -1):
            if self.stack[place] is _MARK:
                values = self.stack[place + 1 :]
                del self.stack[place:]
                return values
        raise IndexError("no mark on the stack")

    def _extend(self, values: list) -> None:
        if type(self.stack[-1]) is not list:
            raise TypeError("APPEND to what is not a list")
        self.stack[-1].extend(values)

    def _update(self, values: list) -> None:
        target, keys = self.stack[-1], values[::2]
        # Python takes tuples as keys too; hashing a nest of them can take for ever.
        if type(target) is not dict or len(values) % 2 or not all(type(key) in (str, int) for key in keys):
            raise TypeError("SETITEM of what is not a dict with texts as keys")
        target.update(zip(keys, values[1::2], strict=True))


_HANDLERS: dict[str, Callable[[_Machine, Any], None]] = {
    **{"BINGET": _Machine.get, "LONG_BINGET": _Machine.get, "BINPUT": _Machine.put, "LONG_BINPUT": _Machine.put},
    **{"MEMOIZE": _Machine.memoize, "MARK": _Machine.mark, "TUPLE": _Machine.tuple_to_mark},
    **{"EMPTY_TUPLE": _Machine.empty_tuple, "EMPTY_LIST": _Machine.empty_list, "EMPTY_DICT": _Machine.empty_dict},
    **{"APPEND": _Machine.append, "APPENDS": _Machine.appends},
    **{"SETITEM": _Machine.set_item, "SETITEMS": _Machine.set_items},
    **{"GLOBAL": _Machine.global_name, "STACK_GLOBAL": _Machine.stack_global, "BINPERSID": _Machine.persistent},
    **{"REDUCE": _Machine.reduce, "BUILD": _Machine.build, "STOP": _Machine.stop},
}


def _named(path: Path, name: str) -> _Named | StorageKind:
    if name in _KINDS:
        return StorageKind(*_KINDS[name])
    if name not in _BUILDERS:
        advice = "nothing in it is run; if you trust it, convert it to safetensors with transformers' save_pretrained"
        raise mismatch(path, "plain tensors", f"a pickle that asks for {shown(name)}", advice)
    return _Named(name, _BUILDERS[name])


def _ordered_dict(path: Path, arguments: tuple) -> dict:
    """`()`, to be filled by later instructions, or, written by Python 2, a list of pairs."""
    pairs = arguments[0] if arguments else []
    if len(arguments) > 1 or type(pairs) is not list or not all(_is_pair(pair) for pair in pairs):
        raise mismatch(path, "a list of pairs for an OrderedDict", brief(arguments))
    return dict(pairs)


def _parameter(path: Path, arguments: tuple) -> TensorView:
    """`(tensor, requires_grad, backward_hooks)`: the tensor."""
    if not arguments or type(arguments[0]) is not TensorView:
        raise mismatch(path, "a parameter's tensor", brief(arguments))
    return arguments[0]


def _tensor(path: Path, arguments: tuple) -> TensorView:
    """`(storage, offset, shape, strides, ...)`, every number checked against the storage's."""
    if len(arguments) < 4:
        raise mismatch(path, "a tensor's storage, offset, shape and strides", brief(arguments))
    storage, offset, shape, strides = arguments[:4]
    where = f"{path}: a tensor"
    if type(storage) is not Storage:
        raise mismatch(where, "a storage", brief(storage))
    if not _is_count(offset) or not _are_counts(shape) or not _are_counts(strides) or len(shape) != len(strides):
        received = f"{shown(offset)}, {shown(shape)} and {shown(strides)}"
        raise mismatch(where, "offset, shape and strides as whole numbers", received)
    size = 1
    for length in shape:
        size *= length
    last = offset + sum((length - 1) * stride for length, stride in zip(shape, strides, strict=True))
    # A view can show a number many times (strides of 0); checkpoints have none, and a huge one would not fit anywhere.
    if size and (last >= storage.count or size > storage.count) or offset > storage.count:
        received = f"offset {shown(offset)}, shape {shown(shape)}, strides {shown(strides)}"
        raise mismatch(where, f"a view inside its storage of {storage.count} numbers", received)
    return TensorView(storage, offset, shape, strides)


def _storage(path: Path, reference: Any) -> Storage:
    """`("storage", kind, key, device, count)`; older files add `None`, or a part of the storage, which is refused."""
    if (
        type(reference) is not tuple
        or len(reference) not in (5, 6)
        or reference[0] != "storage"
        or type(reference[1]) is not StorageKind
        or type(reference[2]) is not str
        or not _is_count(reference[4])
        or reference[5:] not in ((), (None,))
    ):
        raise mismatch(path, "a reference to a storage", brief(reference))
    return Storage(reference[2], reference[1], reference[4])


_BUILDERS = {
    "collections.OrderedDict": _ordered_dict,
    "torch._utils._rebuild_tensor": _tensor,
    "torch._utils._rebuild_tensor_v2": _tensor,
    "torch._utils._rebuild_parameter": _parameter,
}


def _is_pair(value: Any) -> bool:
    return type(value) in (list, tuple) and len(value) == 2 and type(value[0]) is str


def _text(value: Any) -> str:
    if type(value) is not str:
        raise TypeError("a name that is not a text")
    return value


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**63


def _are_counts(values: Any) -> bool:
    return type(values) is tuple and len(values) <= _MAX_DIMENSIONS and all(_is_count(value) for value in values)
