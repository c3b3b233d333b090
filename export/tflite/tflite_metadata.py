"""TFLite's own metadata inside a file, which tells MediaPipe Tasks and the TFLite Task Library inputs, labels and vocabulary.

The schema is `metadata_schema.fbs` of TensorFlow Lite Support (identifier M001). It names the files `vocab.txt` and `labels.txt`, which
`metadata` packs behind the FlatBuffer.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kerasbert.export.tflite.metadata import LABELS, VOCABULARY, Metadata
from kerasbert.export.tflite.model import Model, add_buffer, schema
from kerasbert.processors.classification import MultiLabel, SingleLabel
from kerasbert.text.client_wordpiece import client_unsupported_reason

ENTRY = b"TFLITE_METADATA"
IDENTIFIER = b"M001"
_PARSER = "1.1.0"  # the first version with tokenizers
# Clients look for these names, whatever the signature calls the tensors.
_INPUTS = {"input_ids": "ids", "attention_mask": "mask", "token_type_ids": "segment_ids"}
_OUTPUTS = {
    "probabilities": "probability",
    "start_logits": "start_logits",
    "end_logits": "end_logits",
    "embedding": "embedding",
}
_AXIS_LABELS, _VOCABULARY = 2, 5  # AssociatedFileType
_BERT_TOKENIZER, _FEATURES = 4, 1  # ProcessUnitOptions, ContentProperties


def add_tflite_metadata(model: Model, metadata: Metadata) -> None:
    """Add TFLite's metadata to a model. It describes the first graph, the one that the clients run."""
    graph, signature = model.subgraphs[0], model.signatureDefs[0]
    names = {port.tensorIndex: _decoded(port.name) for port in (*signature.inputs, *signature.outputs)}
    inputs, outputs = ([names[tensor] for tensor in side] for side in (graph.inputs, graph.outputs))
    entry = schema().MetadataT()
    entry.name = ENTRY
    entry.buffer = add_buffer(model, np.frombuffer(_model_metadata(metadata, inputs, outputs), np.uint8))
    model.metadata = [*(other for other in model.metadata or () if other.name != ENTRY), entry]


def has_client_tokenizer(metadata: Metadata) -> bool:
    """Return whether the clients can tokenize for the file; then TFLite's metadata names the vocabulary."""
    return not client_unsupported_reason(metadata.tokenizer, metadata.vocabulary)


def _decoded(name: str | bytes) -> str:
    return name.decode("utf-8") if isinstance(name, bytes) else name


def _model_metadata(metadata: Metadata, inputs: Sequence[str], outputs: Sequence[str]) -> bytes:
    """Return a packed `ModelMetadata` table. Objects are written in a fixed order, so equal metadata has equal bytes."""
    import flatbuffers

    write = _Writer(flatbuffers.Builder(1024))
    has_labels = metadata.labels and isinstance(metadata.processor, SingleLabel | MultiLabel)
    labels = [write.file(LABELS, _AXIS_LABELS)] if has_labels else []
    process_units = []
    if has_client_tokenizer(metadata):
        tokenizer = write.table(1, {0: write.vector([write.file(VOCABULARY, _VOCABULARY)])})
        process_units = [write.table(2, {1: tokenizer}, {0: _BERT_TOKENIZER})]
    input_tensors = [write.tensor(_INPUTS.get(name, name), []) for name in inputs]
    output_tensors = [
        write.tensor(_OUTPUTS.get(name, name), labels if name == "probabilities" else []) for name in outputs
    ]
    graph = {2: write.vector(input_tensors), 3: write.vector(output_tensors)}
    if process_units:
        graph[5] = write.vector(process_units)
    subgraphs = write.vector([write.table(10, graph)])
    description = f"{metadata.processor.name}, {metadata.recipe}, made by kerasbert {metadata.kerasbert}"
    root = write.table(
        8, {0: write.text(metadata.task), 1: write.text(description), 3: subgraphs, 7: write.text(_PARSER)}
    )
    return write.finished(root)


class _Writer:
    """Writes the tables of the schema that are needed. Slots are numbered as in the schema."""

    def __init__(self, builder: Any):
        self._builder = builder

    def text(self, value: str) -> int:
        return self._builder.CreateString(value)

    def vector(self, offsets: Sequence[int]) -> int:
        self._builder.StartVector(4, len(offsets), 4)
        for offset in reversed(offsets):
            self._builder.PrependUOffsetTRelative(offset)
        return self._builder.EndVector()

    def table(self, slots: int, offsets: Mapping[int, int], bytes_: Mapping[int, int] | None = None) -> int:
        self._builder.StartObject(slots)
        for slot, offset in offsets.items():
            self._builder.PrependUOffsetTRelativeSlot(slot, offset, 0)
        for slot, value in (bytes_ or {}).items():
            self._builder.PrependUint8Slot(slot, value, 0)
        return self._builder.EndObject()

    def file(self, name: str, kind: int) -> int:
        return self.table(5, {0: self.text(name)}, {2: kind})

    def tensor(self, name: str, files: Sequence[int]) -> int:
        content = self.table(3, {1: self.table(0, {})}, {0: _FEATURES})
        slots = {0: self.text(name), 3: content}
        if files:
            slots[6] = self.vector(files)
        return self.table(7, slots)

    def finished(self, root: int) -> bytes:
        self._builder.Finish(root, IDENTIFIER)
        return bytes(self._builder.Output())
