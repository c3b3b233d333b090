"""A `.tflite` that was written here, as objects that passes change (files of unknown origin: `tflite_file`)."""

from typing import Any, TypeAlias

import numpy as np

Model: TypeAlias = Any  # the schema's `ModelT`, which has no stubs


def decode(content: bytes | bytearray) -> Model:
    """The objects of a file; constants are views into `content`, also those that lie behind the FlatBuffer."""
    from ai_edge_litert import schema_py_generated as schema

    model = schema.ModelT.InitFromPackedBuf(content, 0)
    for buffer in model.buffers:
        if buffer.offset > 1:  # such an offset would be wrong after packing anew
            buffer.data = np.frombuffer(content, np.uint8, buffer.size, buffer.offset)
            buffer.offset = buffer.size = 0
    return model


def encode(model: Model) -> bytes:
    """The bytes of a file."""
    import flatbuffers

    size = sum(len(buffer.data) for buffer in model.buffers if buffer.data is not None)
    builder = flatbuffers.Builder(size + size // 64 + 65536)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def operator_kinds(model: Model) -> list[str]:
    """The builtin operator's name of every operator code."""
    from ai_edge_litert import schema_py_generated as schema

    names = {value: name for name, value in vars(schema.BuiltinOperator).items() if isinstance(value, int)}
    return [names[max(code.builtinCode, code.deprecatedBuiltinCode)] for code in model.operatorCodes]


def code_of(content, builtin: int, version: int) -> int:
    """The number of an operator code, which is added where there is none."""
    from ai_edge_litert.schema_py_generated import OperatorCodeT

    for number, code in enumerate(content.operatorCodes):
        if max(code.builtinCode, code.deprecatedBuiltinCode) == builtin and code.version >= version:
            return number
    code = OperatorCodeT()
    code.builtinCode = code.deprecatedBuiltinCode = builtin
    code.version = version
    content.operatorCodes.append(code)
    return len(content.operatorCodes) - 1


def new_operator(code: int, inputs: list[int], outputs: list[int], kind: int, options):
    """An operator of a code's number, between tensors by theirs. kind: which options of `BuiltinOptions` these are."""
    from ai_edge_litert.schema_py_generated import OperatorT

    operator = OperatorT()
    operator.opcodeIndex, operator.builtinOptionsType, operator.builtinOptions = code, kind, options
    operator.inputs, operator.outputs = np.array(inputs, np.int32), np.array(outputs, np.int32)
    return operator


def signature_end(name: str, tensor: int):
    """An input or output of a signature: its name, and the tensor's number."""
    from ai_edge_litert.schema_py_generated import TensorMapT

    end = TensorMapT()
    end.name, end.tensorIndex = name.encode(), int(tensor)
    return end
