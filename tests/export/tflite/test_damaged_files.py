"""Readers refuse damaged files in one line, and contradicting graphs do not reach a runtime."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.robustness import damage
from kerasbert.errors import KerasBertError
from kerasbert.export.measurement.inspection import inspect
from kerasbert.export.tflite import metadata
from kerasbert.export.tflite.graph_reader import check_structure
from kerasbert.export.tflite.model import decode, encode, operator_kinds
from kerasbert.export.tflite.verifier import Malformed, verify


@pytest.fixture
def sources(float_file, int8_file, half_file, resizable_file, card):
    words = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *card.vocabulary[5:])
    known = replace(card, vocabulary=words)
    return [metadata.append(file, known) for file in (float_file, int8_file, half_file, resizable_file)]


@pytest.mark.parametrize("inputs", [300, pytest.param(2000, marks=pytest.mark.long)])
def test_damaged_files_are_read_or_refused_in_one_line(sources, inputs):
    draw, refused = np.random.default_rng(0), 0
    objects = [kind for kind in damage.DAMAGES if kind in ("tensor", "operator", "constant", "ends")]
    others = [kind for kind in damage.DAMAGES if kind not in objects]
    for number in range(inputs):
        kinds = others if number % 10 else objects  # which take longer to make
        kind = kinds[int(draw.integers(len(kinds)))]
        data = damage.damaged(sources[int(draw.integers(len(sources)))], kind, draw, sources)
        for reader in (metadata.read, (inspect, check_structure)[number % 2]):
            try:
                reader(data)
            except KerasBertError as error:
                refused += 1
                assert "\n" not in str(error)
    assert refused > inputs // 2


def changed(path, change, kind=None) -> bytes:
    """Returns a file with a changed graph, or a changed first operator of a kind."""
    content = decode(path.read_bytes())
    graph, kinds = content.subgraphs[0], operator_kinds(content)
    things = [graph] if kind is None else [each for each in graph.operators if kinds[each.opcodeIndex] == kind]
    change(content, things[0])
    return encode(content)


def as_activation_in_a_constant(content, softmax):
    graph = content.subgraphs[0]
    graph.tensors[softmax.outputs[0]].buffer = next(
        t.buffer for t in graph.tensors if content.buffers[t.buffer].data is not None
    )


def as_another_operator(content, softmax):
    softmax.opcodeIndex = operator_kinds(content).index("GATHER")


def as_its_own_input(content, softmax):
    softmax.inputs = np.array(softmax.outputs)


def with_a_large_shape(content, softmax):
    content.subgraphs[0].tensors[softmax.outputs[0]].shape = np.array([1 << 20, 1 << 20], np.int32)


def with_ten_axes(content, softmax):
    content.subgraphs[0].tensors[softmax.outputs[0]].shape = np.ones(10, np.int32)


def with_a_short_constant(content, gather):
    tensor = content.subgraphs[0].tensors[gather.inputs[0]]
    content.buffers[tensor.buffer].data = content.buffers[tensor.buffer].data[:-4]


def with_an_output_of_nobody(content, graph):
    graph.outputs = np.array([graph.inputs[0], graph.operators[0].outputs[0] + 10**6], np.int32)


def with_a_signature_of_the_middle(content, graph):
    content.signatureDefs[0].outputs[0].tensorIndex = int(graph.operators[0].outputs[0])


@pytest.mark.parametrize(
    ("kind", "change", "message"),
    [
        ("SOFTMAX", as_activation_in_a_constant, r"bytes for float32|has values already"),
        ("SOFTMAX", as_another_operator, "GATHER without a second input"),
        ("SOFTMAX", as_its_own_input, "reads tensor .* before it is written"),
        ("SOFTMAX", with_a_large_shape, "the shape"),
        ("SOFTMAX", with_ten_axes, "the shape"),
        ("GATHER", with_a_short_constant, "bytes for float32"),
        (None, with_an_output_of_nobody, "a graph that starts or ends with a tensor outside"),
        (None, with_a_signature_of_the_middle, "an output that its graph does not have"),
    ],
)
def test_contradicting_graphs_are_refused(float_file, kind, change, message):
    with pytest.raises(KerasBertError, match=message):
        check_structure(changed(float_file, change, kind))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"scale": [np.nan]}, "a scale that is negative or no number"),
        ({"scale": [-1.0]}, "a scale that is negative or no number"),
        ({"zeroPoint": [300]}, "a zero point outside -128..127 for int8"),
        ({"zeroPoint": [0, 0]}, "1 scales and 2 zero points"),
        ({"scale": [1.0] * 5, "zeroPoint": [0] * 5}, "5 scales along axis 0"),
    ],
)
def test_invalid_scales_are_refused(int8_file, values, message):
    def change(content, graph):
        kernel = next(t for t in graph.tensors if t.type == 9 and content.buffers[t.buffer].data is not None)
        settings = {"scale": [1.0], "zeroPoint": [0], **values}
        for name, given in settings.items():
            setattr(kernel.quantization, name, np.array(given, np.float32 if name == "scale" else np.int64))

    with pytest.raises(KerasBertError, match=message):
        check_structure(changed(int8_file, change))


def test_negative_offsets_are_refused(float_file):
    """Python counts negative offsets from the end, and a runtime reads memory before the file."""
    data = bytearray(float_file.read_bytes())
    place = int.from_bytes(data[:4], "little")
    data[place : place + 4] = (2 * place).to_bytes(4, "little")  # of the vtable, counted back
    with pytest.raises(Malformed, match="offset to byte -"):
        verify(bytes(data))
    with pytest.raises(KerasBertError, match="outside the file"):
        check_structure(bytes(data))
