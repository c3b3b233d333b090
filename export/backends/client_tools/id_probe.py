"""A `.tflite` file that returns the ids it gets: with it, a client shows how it tokenizes."""

import importlib
from typing import Any

import numpy as np

from kerasbert.export.runtime.interpreter_session import SIGNATURE
from kerasbert.export.tflite.graph_editor import GraphEditor
from kerasbert.export.tflite.metadata import Metadata, append
from kerasbert.export.tflite.model import encode, signature_end
from kerasbert.export.tflite.tflite_metadata import add_tflite_metadata
from kerasbert.export.validation.examples import INPUTS
from kerasbert.processors.embedding import Embedding

_OUTPUT = "embedding"


def probe_file(metadata: Metadata, length: int) -> bytes:
    """Build a sentence encoder whose vector is its `input_ids` as floats, (1, length), exact for ids below 2**24.

    Args:
        metadata: The metadata of a file with the probe's vocabulary and tokenizer.
        length: Tokens a row.
    """
    model = _cast_model(length)
    probe_metadata = Metadata(
        task="SentenceEncoder", processor=Embedding(), sequence_length=length, recipe="float32", target="cpu", parameters=0,
        tokenizer=metadata.tokenizer, vocabulary=metadata.vocabulary,
    )  # fmt: skip
    add_tflite_metadata(model, probe_metadata)
    return append(encode(model), probe_metadata)


def _cast_model(length: int) -> Any:
    schema: Any = importlib.import_module("ai_edge_litert.schema_py_generated")  # its annotations are wrong
    types = {**dict.fromkeys(INPUTS, schema.TensorType.INT32), _OUTPUT: schema.TensorType.FLOAT32}
    indices = {name: index for index, name in enumerate(types)}
    graph = schema.SubGraphT()
    graph.tensors = [_tensor(schema, name, dtype, length) for name, dtype in types.items()]
    graph.inputs = np.arange(len(INPUTS), dtype=np.int32)
    graph.outputs = np.array([indices[_OUTPUT]], np.int32)
    graph.operators = []
    signature = schema.SignatureDefT()
    signature.signatureKey, signature.subgraphIndex = SIGNATURE.encode(), 0
    signature.inputs = [signature_end(name, indices[name]) for name in INPUTS]
    signature.outputs = [signature_end(_OUTPUT, indices[_OUTPUT])]
    model = schema.ModelT()
    model.version, model.operatorCodes, model.subgraphs = 3, [], [graph]
    model.signatureDefs, model.buffers, model.metadata = [signature], [schema.BufferT()], []
    with GraphEditor(model) as editor:
        ends = [indices["input_ids"]], [indices[_OUTPUT]]
        editor.append(editor.operator("CAST", *ends, inDataType=types["input_ids"], outDataType=types[_OUTPUT]))
    return model


def _tensor(schema: Any, name: str, dtype: int, length: int) -> Any:
    tensor = schema.TensorT()
    tensor.name, tensor.type, tensor.buffer = name.encode(), dtype, 0
    tensor.shape = np.array([1, length], np.int32)
    return tensor
