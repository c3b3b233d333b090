"""A `.tflite` file that answers with the ids it gets: by it a client tells how it tokenizes."""

import numpy as np

from kerasbert.export.runtime.interpreter_model import SIGNATURE
from kerasbert.export.tflite.metadata import Metadata, append
from kerasbert.export.tflite.model import encode, new_operator, signature_end
from kerasbert.export.tflite.tflite_metadata import add_tflite_metadata
from kerasbert.export.validation.examples import INPUTS
from kerasbert.processors.embedding import Embedding

_OUTPUT = "embedding"


def probe_file(card: Metadata, length: int) -> bytes:
    """A sentence encoder whose vector is its `input_ids` as floats, (1, length), exact for ids below 2**24.

    Args:
        card: of a file whose vocabulary and tokenizer the probe has.
        length: tokens a row.
    """
    content = _cast_model(length)
    told = Metadata(
        task="SentenceEncoder", processor=Embedding(), sequence_length=length, recipe="float32", target="cpu", parameters=0,
        tokenizer=card.tokenizer, vocabulary=card.vocabulary,
    )  # fmt: skip
    add_tflite_metadata(content, told)
    return append(encode(content), told)


def _cast_model(length: int):
    from ai_edge_litert import schema_py_generated as schema

    code = schema.OperatorCodeT()
    code.builtinCode = code.deprecatedBuiltinCode = schema.BuiltinOperator.CAST
    code.version = 1
    kinds = {**dict.fromkeys(INPUTS, schema.TensorType.INT32), _OUTPUT: schema.TensorType.FLOAT32}
    places = {name: place for place, name in enumerate(kinds)}
    options = schema.CastOptionsT()
    options.inDataType, options.outDataType = kinds["input_ids"], kinds[_OUTPUT]
    graph = schema.SubGraphT()
    graph.tensors = [_tensor(name, kind, length) for name, kind in kinds.items()]
    graph.inputs = np.arange(len(INPUTS), dtype=np.int32)
    graph.outputs = np.array([places[_OUTPUT]], np.int32)
    ends = [places["input_ids"]], [places[_OUTPUT]]
    graph.operators = [new_operator(0, *ends, schema.BuiltinOptions.CastOptions, options)]
    signature = schema.SignatureDefT()
    signature.signatureKey, signature.subgraphIndex = SIGNATURE.encode(), 0
    signature.inputs = [signature_end(name, places[name]) for name in INPUTS]
    signature.outputs = [signature_end(_OUTPUT, places[_OUTPUT])]
    model = schema.ModelT()
    model.version, model.operatorCodes, model.subgraphs = 3, [code], [graph]
    model.signatureDefs, model.buffers, model.metadata = [signature], [schema.BufferT()], []
    return model


def _tensor(name: str, kind: int, length: int):
    from ai_edge_litert.schema_py_generated import TensorT

    tensor = TensorT()
    tensor.name, tensor.type, tensor.buffer = name.encode(), kind, 0
    tensor.shape = np.array([1, length], np.int32)
    return tensor
