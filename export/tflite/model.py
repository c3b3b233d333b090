"""A `.tflite` model as the schema's mutable objects, for the passes of a conversion. Only for trusted files; `reader` reads any others.

The generated classes declare lists and strings where they hold NumPy arrays and bytes. Their objects are therefore `Any` here.
"""

from typing import Any, TypeAlias

import numpy as np

Model: TypeAlias = Any  # the schema's ModelT
Graph: TypeAlias = Any  # SubGraphT
GraphOperator: TypeAlias = Any  # OperatorT
GraphTensor: TypeAlias = Any  # TensorT


def schema() -> Any:
    """The module of TFLite's generated FlatBuffer classes."""
    from ai_edge_litert import schema_py_generated

    return schema_py_generated


def decode(content: bytes | bytearray) -> Model:
    """Unpack a file. Constants are views into `content`, also those stored behind the FlatBuffer."""
    model: Model = schema().ModelT.InitFromPackedBuf(content, 0)
    for buffer in model.buffers:
        if buffer.offset > 1:  # the offset would be wrong after repacking
            buffer.data = np.frombuffer(content, np.uint8, buffer.size, buffer.offset)
            buffer.offset = buffer.size = 0
    return model


def encode(model: Model) -> bytes:
    """Pack a model into the bytes of a file."""
    import flatbuffers

    size = sum(len(buffer.data) for buffer in model.buffers if buffer.data is not None)
    builder = flatbuffers.Builder(size + size // 64 + 65536)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def operator_kinds(model: Model) -> list[str]:
    """Return the builtin operator's name of every operator code."""
    names = {value: name for name, value in vars(schema().BuiltinOperator).items() if isinstance(value, int)}
    return [names[max(code.builtinCode, code.deprecatedBuiltinCode)] for code in model.operatorCodes]


def add_code(model: Model, builtin: int, version: int) -> int:
    """Add an operator code and return its index."""
    code = schema().OperatorCodeT()
    code.builtinCode = code.deprecatedBuiltinCode = builtin
    code.version = version
    model.operatorCodes.append(code)
    return len(model.operatorCodes) - 1


def add_buffer(model: Model, values: np.ndarray) -> int:
    """Add a buffer with the bytes of an array and return its index."""
    buffer = schema().BufferT()
    buffer.data = np.ascontiguousarray(values).view(np.uint8).ravel()
    model.buffers.append(buffer)
    return len(model.buffers) - 1


def signature_end(name: str, tensor: int) -> Any:
    """Create the entry of one input or output in a signature: its name and the tensor's index."""
    end = schema().TensorMapT()
    end.name, end.tensorIndex = name.encode(), int(tensor)
    return end
