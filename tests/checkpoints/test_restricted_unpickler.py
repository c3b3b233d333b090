import io
import os
import pickle
import struct
from pathlib import Path

import pytest

from kerasbert.checkpoints.restricted_unpickler import Storage, StorageKind, TensorView, read_pickle
from kerasbert.errors import KerasBertError

FLOAT_STORAGE = b"ctorch\nFloatStorage\n"
REBUILD = b"ctorch._utils\n_rebuild_tensor_v2\n"
HOOKS = b"ccollections\nOrderedDict\n)R"
FLOATS = StorageKind("F32", 4)


def text(value):
    data = value.encode()
    return b"X" + struct.pack("<I", len(data)) + data


def number(value):
    return pickle.dumps(value, 2)[2:-1]


def numbers(values):
    return b"(" + b"".join(number(value) for value in values) + b"t"


def storage(key="0", count=6, kind=FLOAT_STORAGE, word="storage", more=b""):
    return b"(" + text(word) + kind + text(key) + text("cpu") + number(count) + more + b"tQ"


def tensor(storage=None, offset=0, shape=(2, 3), strides=(3, 1)):
    held = globals()["storage"]() if storage is None else storage
    return REBUILD + b"(" + held + number(offset) + numbers(shape) + numbers(strides) + b"\x89" + HOOKS + b"tR"


def program(*instructions):
    return b"\x80\x02" + b"".join(instructions) + b"."


def read(data):
    return read_pickle(Path("weights.bin"), io.BytesIO(data), len(data))


def complaint(data):
    with pytest.raises(KerasBertError) as caught:
        read(data)
    message = str(caught.value)
    assert "\n" not in message and len(message) < 800 and message.startswith("weights.bin")
    return message


def test_a_tensor_is_a_view_of_its_storage():
    assert read(program(tensor())) == TensorView(Storage("0", FLOATS, 6), 0, (2, 3), (3, 1))
    parameter = b"ctorch._utils\n_rebuild_parameter\n(" + tensor(offset=1, shape=(5,), strides=(1,)) + b"\x88" + HOOKS
    assert read(program(parameter, b"tR")).offset == 1


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_plain_data(protocol):
    data = {
        "a": [1, -2, 2**70, 0.5, None, True],
        "b": ((), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4)),
        "c": {},
        "d": [[]] * 300,
    }
    assert read(pickle.dumps(data, protocol)) == data


def test_ordered_dict_of_python_2():
    pairs = b"](](" + text("a") + number(1) + b"ee"
    assert read(program(b"ccollections\nOrderedDict\n(", pairs, b"tR")) == {"a": 1}


def test_attributes_of_a_state_dict_are_dropped():
    assert read(program(HOOKS, b"}", text("_metadata"), b"}sb")) == {}


class Command:
    def __reduce__(self):
        return os.system, ("touch hacked",)


@pytest.mark.parametrize("protocol", [0, 1, 2, 3, 4, 5])
def test_commands_are_reported_and_not_run(tmp_path, monkeypatch, protocol):
    monkeypatch.chdir(tmp_path)
    message = complaint(pickle.dumps({"weight": Command()}, protocol))
    assert "posix.system" in message or "instruction" in message  # the oldest protocols write other instructions
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "name",
    [
        *("os.system", "posix.system", "builtins.eval", "builtins.getattr", "__builtin__.exec", "subprocess.Popen"),
        *("torch.load", "torch.hub.load", "torch.storage._load_from_bytes", "torch._utils.os.system"),
        *("torch._utils._rebuild_tensor_v2.__globals__", "collections.OrderedDict.fromkeys", "collections.namedtuple"),
        *(
            "numpy.load",
            "kerasbert.files.atomic.atomic_folder",
            "pickle.loads",
            "torch.FloatStorage.__class__",
            "x" * 5000,
        ),
    ],
)
@pytest.mark.parametrize("stacked", [False, True])
def test_other_names_are_rejected(name, stacked):
    module, _, last = name.rpartition(".")
    call = text(module) + text(last) + b"\x93" if stacked else f"c{module}\n{last}\n".encode()
    message = complaint(program(call, b"(", text("id"), b"tR"))
    assert "asks for" in message and name[:30] in message


@pytest.mark.parametrize(
    ("instructions", "name"),
    [
        (b"(" + text("id") + b"ios\nsystem\n", "INST"),
        (b"(" + text("torch") + b"o", "OBJ"),
        (HOOKS + b")\x81", "NEWOBJ"),
        (b"\x82\x01", "EXT1"),
        (b"2", "DUP"),
        (b"}}(\x90", "EMPTY_SET|ADDITEMS"),
        (b"Pos.system\n", "PERSID"),
        (b"\x97", "NEXT_BUFFER"),
    ],
)
def test_unsupported_instructions_are_rejected(instructions, name):
    message = complaint(program(instructions))
    assert any(f"instruction {word}" in message for word in name.split("|"))


@pytest.mark.parametrize(
    "reference",
    [
        text("storage") + b"Q",
        b")Q",
        b"(" + text("storage") + b"tQ",
        number(5) + b"Q",
        b"(" + text("module") + text("os") + text("system") + text("cpu") + number(1) + b"tQ",
        storage(word="module"),
        storage(kind=text("torch.FloatStorage")),
        storage(kind=REBUILD),
        storage(count=-1),
        storage(count=2**63),
        storage(more=numbers((1, 2, 3))),
        storage(more=b"NN"),
        b"(" + text("storage") + FLOAT_STORAGE + numbers((1,)) + text("cpu") + number(1) + b"tQ",
    ],
)
def test_invalid_storage_references(reference):
    assert "a reference to a storage" in complaint(program(reference))


@pytest.mark.parametrize(
    "wrong",
    [
        {"offset": -1},
        {"offset": 1},
        {"offset": 2**62},
        {"shape": (3, 3)},
        {"shape": (-2, -3)},
        {"shape": (2**62, 2**62)},
        {"shape": (2, 3, 1)},
        {"strides": (-3, 1)},
        {"strides": (4, 1)},
        {"strides": (0, 0), "shape": (2**40, 2**20)},
        {"strides": (0, 1)},
        {"strides": (2**62, 1)},
        {"offset": 7, "shape": (0,), "strides": (1,)},
        {"shape": (1,) * 33, "strides": (1,) * 33},
        {"shape": (True, 3)},
        {"shape": (2.0, 3)},
        {"storage": text("0")},
        {"storage": b"]"},
    ],
)
def test_tensors_must_be_inside_their_storage(wrong):
    # A broadcast view of 2 x 3 elements is inside a storage of 6; one with more elements is not.
    if wrong == {"strides": (0, 1)}:
        assert read(program(tensor(**wrong))).strides == (0, 1)
    else:
        message = complaint(program(tensor(**wrong)))
        assert "tensor" in message or "storage" in message


@pytest.mark.parametrize(
    "instructions",
    [
        b"R",
        b"0",
        b"t",
        b"]R",
        b"}" + b")R",
        FLOAT_STORAGE + b")R",
        REBUILD + b")R",
        REBUILD + b"]R",
        b"ctorch._utils\n_rebuild_parameter\n)R",
        b"ctorch._utils\n_rebuild_parameter\n" + text("x") + b"\x85R",
        b"ccollections\nOrderedDict\n" + text("ab") + b"\x85R",
        b"ccollections\nOrderedDict\n]" + number(1) + b"a\x85R",
        REBUILD + b"}" + text("__code__") + number(1) + b"sb",
        REBUILD + b"N}" + text("__defaults__") + b")s\x86b",
        tensor() + b"}" + text("storage") + number(1) + b"sb",
        b"})" + number(1) + b"s",
        b"}](" + number(1) + b"es",
        number(1) + number(2) + b"a",
        b"(" + number(1) + b"a",
        b"h\x05",
        b"j\xff\xff\xff\xff",
        b"}" + text("a") + b"u",
        number(1) + number(2) + b"\x93",
    ],
)
def test_invalid_programs_are_one_line_errors(instructions):
    complaint(program(instructions))


def test_memory_and_time_stay_small():
    assert (
        read(program(number(1), b"r\xff\xff\xff\xff")) == 1
    )  # Python's unpickler would allocate a memo of this length
    complaint(program(b"\x8e" + struct.pack("<Q", 2**62)))  # a length without data
    complaint(program(b"X" + struct.pack("<I", 2**32 - 1)))
    nest = program(b")" + b"q\x00h\x00\x86" * 60)  # 2**60 tuples, each written once
    read(nest)
    complaint(program(b"})" + b"q\x00h\x00\x86" * 60 + b"Ns"))  # hashing the key would visit all of them
    complaint(program(REBUILD, b")" + b"q\x00h\x00\x86" * 60 + b"R"))  # and so would a message
    deep = b"\x80\x02)" + b"\x85" * 200_000 + b"."
    read(deep)


def test_truncated_pickles():
    whole = program(b"}(", text("a"), tensor(), text("b"), tensor(), b"u")
    assert sorted(read(whole)) == ["a", "b"]
    for length in range(len(whole)):
        complaint(whole[:length])
