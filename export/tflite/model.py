"""A `.tflite` that we have just written, as objects to change and back again (files of unknown origin: `tflite_file`)."""

import numpy as np


def unpack(model: bytes):
    """The file as the schema's `ModelT`; its constants are views into `model`, also those that lie behind the flatbuffer."""
    from ai_edge_litert import schema_py_generated as schema

    content = schema.ModelT.InitFromPackedBuf(model, 0)
    for buffer in content.buffers:
        if buffer.offset > 1:  # such an offset would be wrong after packing anew
            buffer.data = np.frombuffer(model, np.uint8, buffer.size, buffer.offset)
            buffer.offset = buffer.size = 0
    return content


def pack(content) -> bytes:
    """The file's bytes."""
    import flatbuffers

    size = sum(len(buffer.data) for buffer in content.buffers if buffer.data is not None)
    builder = flatbuffers.Builder(size + size // 64 + 65536)
    builder.Finish(content.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def operator_kinds(content) -> list[str]:
    """The builtin operator's name of every operator code."""
    from ai_edge_litert import schema_py_generated as schema

    names = {value: name for name, value in vars(schema.BuiltinOperator).items() if isinstance(value, int)}
    return [names[max(code.builtinCode, code.deprecatedBuiltinCode)] for code in content.operatorCodes]


def drop_unused(content) -> None:
    """Takes out the tensors and operator codes of a file with one graph that nothing uses: an old runtime refuses a newer operator that
    stands in the list alone."""
    (graph,) = content.subgraphs
    ends = [
        tensor.tensorIndex for signature in content.signatureDefs for tensor in (*signature.inputs, *signature.outputs)
    ]
    used = {*graph.inputs, *graph.outputs, *ends}
    used |= {tensor for operator in graph.operators for tensor in (*operator.inputs, *operator.outputs) if tensor >= 0}
    places = {tensor: place for place, tensor in enumerate(sorted(map(int, used)))} | {-1: -1}
    graph.tensors = [graph.tensors[tensor] for tensor in sorted(used)]
    for holder in (graph, *graph.operators):
        holder.inputs, holder.outputs = (
            [places[int(tensor)] for tensor in end] for end in (holder.inputs, holder.outputs)
        )
    for tensor in (each for signature in content.signatureDefs for each in (*signature.inputs, *signature.outputs)):
        tensor.tensorIndex = places[int(tensor.tensorIndex)]
    codes = sorted({operator.opcodeIndex for operator in graph.operators})
    content.operatorCodes = [content.operatorCodes[code] for code in codes]
    for operator in graph.operators:
        operator.opcodeIndex = codes.index(operator.opcodeIndex)


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
