"""Files in the formats of torch.save, written without PyTorch: classes with its names replace it while they are pickled."""

import io
import pickle
import struct
import sys
import types
import zipfile
from collections import OrderedDict
from unittest import mock

import numpy as np
import pytest

KINDS = {
    **{"FloatStorage": "<f4", "HalfStorage": "<f2", "BFloat16Storage": "<u2", "DoubleStorage": "<f8"},
    **{"LongStorage": "<i8", "IntStorage": "<i4", "ByteStorage": "<u1", "BoolStorage": "<u1"},
}


class Storage:
    def __init__(self, kind, values):
        self.kind, self.data = kind, np.asarray(values, KINDS[kind]).ravel()


class Tensor:
    """A view of a storage; strides in elements."""

    def __init__(self, storage, shape, strides=None, offset=0, parameter=False):
        self.storage, self.shape, self.offset, self.parameter = storage, tuple(shape), offset, parameter
        contiguous = [int(np.prod(shape[i + 1 :])) for i in range(len(shape))]
        self.strides = tuple(contiguous if strides is None else strides)


def tensor(values, kind="FloatStorage", **settings):
    values = np.asarray(values)
    return Tensor(Storage(kind, values), values.shape, **settings)


def bfloat16(values):
    return tensor(np.asarray(values, np.float32).view(np.uint32) >> 16, "BFloat16Storage")


def zip_file(path, content, compression=zipfile.ZIP_STORED, byteorder=b"little", without=(), extra=()):
    storages = {}
    description = pickled(content, storages)
    members = {"data.pkl": description, "byteorder": byteorder, "version": b"3\n"}
    members |= {f"data/{storage.key}": storage.data.tobytes() for storage in storages.values()}
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, data in members.items():
            if name not in without:
                archive.writestr(f"archive/{name}", data)
        for name, data in extra:
            archive.writestr(name, data)
    return path


def legacy_file(path, content, magic=0x1950A86A20F9469CFC6C, protocol=1001, little_endian=True):
    storages = {}
    sizes = {"short": 2, "int": 4, "long": 8}
    system = {"protocol_version": 1001, "little_endian": little_endian, "type_sizes": sizes}
    start = [pickle.dumps(value, 2) for value in (magic, protocol, system)]
    start.append(pickled(content, storages, legacy=True))
    start.append(pickle.dumps([storage.key for storage in storages.values()], 2))
    data = [struct.pack("<q", len(storage.data)) + storage.data.tobytes() for storage in storages.values()]
    path.write_bytes(b"".join(start + data))
    return path


def pickled(content, storages, legacy=False):
    """The description of `content`; adds each storage to `storages` by identity, with a key."""
    torch, utilities = types.ModuleType("torch"), types.ModuleType("torch._utils")
    torch._utils = utilities
    for kind in KINDS:
        setattr(torch, kind, type(kind, (), {"__module__": "torch"}))
    for name in ("_rebuild_tensor_v2", "_rebuild_parameter"):
        function = types.FunctionType((lambda: None).__code__, {}, name)
        function.__module__, function.__qualname__ = "torch._utils", name
        setattr(utilities, name, function)

    class Pickler(pickle.Pickler):
        def persistent_id(self, obj):
            if not isinstance(obj, Storage):
                return None
            if id(obj) not in storages:
                storages[id(obj)], obj.key = obj, str(len(storages))
            reference = ("storage", getattr(torch, obj.kind), obj.key, "cpu", len(obj.data))
            return (*reference, None) if legacy else reference

        def reducer_override(self, obj):
            if not isinstance(obj, Tensor):
                return NotImplemented
            hooks = OrderedDict()
            if obj.parameter:
                plain = Tensor(obj.storage, obj.shape, obj.strides, obj.offset)
                return utilities._rebuild_parameter, (plain, True, hooks)
            return utilities._rebuild_tensor_v2, (obj.storage, obj.offset, obj.shape, obj.strides, False, hooks)

    written = io.BytesIO()
    with mock.patch.dict(sys.modules, {"torch": torch, "torch._utils": utilities}):
        Pickler(written, 2).dump(content)
    return written.getvalue()


@pytest.fixture
def torch_files():
    """The functions above; test modules cannot import a conftest."""
    writers = {"tensor": tensor, "bfloat16": bfloat16, "zip_file": zip_file, "legacy_file": legacy_file}
    return types.SimpleNamespace(Storage=Storage, Tensor=Tensor, pickled=pickled, **writers)
