"""TFLite's own metadata inside a file, by which MediaPipe Tasks and the TFLite Task Library know inputs, labels and vocabulary.

The schema is `metadata_schema.fbs` of TensorFlow Lite Support (identifier M001). The files that it names, `vocab.txt` and `labels.txt`, are
those that `metadata` packs behind the FlatBuffer.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from kerasbert.export.tflite.metadata import LABELS, VOCABULARY, Metadata
from kerasbert.export.tflite.model import Model
from kerasbert.processors.classification import MultiLabel, SingleLabel
from kerasbert.text.client_wordpiece import client_unsupported_reason

ENTRY = b"TFLITE_METADATA"
IDENTIFIER = b"M001"
_PARSER = "1.1.0"  # the first that knows tokenizers
# What the clients look for, whatever the tensors are called.
_INPUTS = {"input_ids": "ids", "attention_mask": "mask", "token_type_ids": "segment_ids"}
_OUTPUTS = {
    "probabilities": "probability",
    "start_logits": "start_logits",
    "end_logits": "end_logits",
    "embedding": "embedding",
}
_AXIS_LABELS, _VOCABULARY = 2, 5  # AssociatedFileType
_BERT_TOKENIZER, _FEATURES = 4, 1  # ProcessUnitOptions, ContentProperties


def add_tflite_metadata(model: Model, card: Metadata) -> None:
    """Adds TFLite's metadata; of several graphs the first is described, which is the one that the clients run."""
    graph, signature = model.subgraphs[0], model.signatureDefs[0]
    names = {port.tensorIndex: port.name for port in (*signature.inputs, *signature.outputs)}
    inputs, outputs = ([_text(names[tensor]) for tensor in side] for side in (graph.inputs, graph.outputs))
    buffer, entry = _new()
    buffer.data = np.frombuffer(_model_metadata(card, inputs, outputs), np.uint8)
    entry.name, entry.buffer = ENTRY, len(model.buffers)
    model.buffers.append(buffer)
    model.metadata = [*(each for each in model.metadata or () if each.name != ENTRY), entry]


def _new():
    from ai_edge_litert import schema_py_generated as schema

    return schema.BufferT(), schema.MetadataT()


def _text(name) -> str:
    return name.decode("utf-8") if isinstance(name, bytes) else name


def has_client_tokenizer(card: Metadata) -> bool:
    """Whether the clients can tokenize for the file; then its metadata names the vocabulary to them."""
    return not client_unsupported_reason(card.tokenizer, card.vocabulary)


def _model_metadata(card: Metadata, inputs: Sequence[str], outputs: Sequence[str]) -> bytes:
    import flatbuffers

    write = _Writer(flatbuffers.Builder(1024))
    labels = (
        [write.file(LABELS, _AXIS_LABELS)]
        if card.labels and isinstance(card.processor, SingleLabel | MultiLabel)
        else []
    )
    units = []
    if has_client_tokenizer(card):
        tokenizer = write.table(1, {0: write.vector([write.file(VOCABULARY, _VOCABULARY)])})
        units = [write.table(2, {1: tokenizer}, {0: _BERT_TOKENIZER})]
    tensors = {
        side: [
            write.tensor(known.get(name, name), labels if side == "outputs" and name == "probabilities" else [])
            for name in names
        ]
        for side, known, names in (("inputs", _INPUTS, inputs), ("outputs", _OUTPUTS, outputs))
    }
    graph = {2: write.vector(tensors["inputs"]), 3: write.vector(tensors["outputs"])}
    if units:
        graph[5] = write.vector(units)
    subgraphs = write.vector([write.table(10, graph)])
    root = write.table(
        8,
        {
            0: write.text(card.task),
            1: write.text(f"{card.processor.name}, {card.recipe}, made by kerasbert {card.kerasbert}"),
            3: subgraphs,
            7: write.text(_PARSER),
        },
    )
    return write.finished(root)


class _Writer:
    """The few shapes of tables that are needed; slots are numbered as in the schema."""

    def __init__(self, builder):
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
        found = {0: self.text(name), 3: content}
        if files:
            found[6] = self.vector(files)
        return self.table(7, found)

    def finished(self, root: int) -> bytes:
        self._builder.Finish(root, IDENTIFIER)
        return bytes(self._builder.Output())
