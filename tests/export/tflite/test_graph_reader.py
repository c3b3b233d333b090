import flatbuffers
import numpy as np
import pytest

from kerasbert.errors import KerasBertError
from kerasbert.export.tflite.model import decode, encode, operator_kinds
from kerasbert.export.tflite.model_file import ModelFile


def test_reads_signature_operators_and_tensors(float_file, helpers):
    file = ModelFile.read(float_file)
    (signature,) = file.signatures
    assert signature.name == "serve"
    assert set(signature.inputs) == {"input_ids", "attention_mask", "token_type_ids"}
    tensors = file.subgraphs[0].tensors
    ids = tensors[signature.inputs["input_ids"]]
    assert (ids.dtype, ids.shape, ids.constant) == ("int32", (1, helpers.LENGTH), False)
    names = [operator.name for operator in file.subgraphs[0].operators]
    assert names.count("FULLY_CONNECTED") == 2 and "GATHER" in names
    assert file.size == float_file.stat().st_size


def test_a_resizable_length_is_minus_one(resizable_file):
    file = ModelFile.read(resizable_file)
    ids = file.subgraphs[0].tensors[file.signatures[0].inputs["input_ids"]]
    assert ids.shape == (1, -1)


def test_int8_kernel_is_quantized_per_channel(int8_file):
    tensors = ModelFile.read(int8_file).subgraphs[0].tensors
    (kernel,) = [tensor for tensor in tensors if tensor.dtype == "int8" and tensor.constant]
    assert kernel.quantization.per_channel and kernel.quantization.axis == 0
    assert kernel.nbytes == kernel.elements


@pytest.mark.parametrize("share", [0.01, 0.3, 0.9])
def test_a_truncated_file_is_refused_in_one_line(float_file, share):
    data = float_file.read_bytes()
    with pytest.raises(KerasBertError) as error:
        ModelFile.read(data[: int(share * len(data))])
    assert "\n" not in str(error.value)


def test_damaged_bytes_raise_no_other_exception(float_file):
    data, draw = float_file.read_bytes(), np.random.default_rng(0)
    failed = 0
    for _ in range(150):
        damaged = bytearray(data)
        for place in draw.integers(8, len(data), 8):
            damaged[place] = draw.integers(256)
        try:
            ModelFile.read(bytes(damaged))
        except KerasBertError:
            failed += 1
    assert failed > 20


def test_foreign_and_missing_files_are_refused(tmp_path):
    foreign = tmp_path / "model.onnx"
    foreign.write_bytes(b"not a model at all")
    with pytest.raises(KerasBertError, match="TFL3"):
        ModelFile.read(foreign)
    with pytest.raises(KerasBertError, match="not there"):
        ModelFile.read(tmp_path / "none.tflite")
    with pytest.raises(KerasBertError, match="a folder"):
        ModelFile.read(tmp_path)


@pytest.mark.parametrize(
    ("kind", "change", "message"),
    [
        ("FULLY_CONNECTED", {"inputs": []}, "FULLY_CONNECTED without an input"),
        ("GATHER", {"inputs": [0, -1]}, "GATHER without an input"),
        ("BATCH_MATMUL", {"inputs": [0]}, "BATCH_MATMUL without a second input"),
        ("FULLY_CONNECTED", {"inputs": [0]}, "FULLY_CONNECTED without a second input"),
        ("GATHER", {"inputs": [0]}, "GATHER without a second input"),
        ("SOFTMAX", {"outputs": []}, "SOFTMAX without an output"),
    ],
)
def test_operators_without_required_tensors_are_refused(float_file, kind, change, message):
    with pytest.raises(KerasBertError, match=message):
        ModelFile.read(_changed(float_file, kind, change))


def test_a_dense_layer_may_lack_its_bias(float_file):
    assert ModelFile(_changed(float_file, "FULLY_CONNECTED", {"inputs": [0, 1, -1]}), None).subgraphs


def _changed(path, kind: str, change: dict) -> bytes:
    """Returns a file with changed tensors in its first operator of a kind."""
    content = decode(path.read_bytes())
    kinds = operator_kinds(content)
    operator = next(each for each in content.subgraphs[0].operators if kinds[each.opcodeIndex] == kind)
    for side, tensors in change.items():
        setattr(operator, side, np.array(tensors, np.int32))
    return encode(content)


def test_many_vectors_at_one_place_are_refused_quickly():
    """Many graphs are stored at one place, and so are their many tensors."""
    from ai_edge_litert import schema_py_generated as schema

    builder, many = flatbuffers.Builder(1024), 3000
    schema.TensorStart(builder)
    tensor = schema.TensorEnd(builder)
    schema.SubGraphStartTensorsVector(builder, many)
    tensors = _same(builder, tensor, many)
    schema.SubGraphStart(builder)
    schema.SubGraphAddTensors(builder, tensors)
    graph = schema.SubGraphEnd(builder)
    schema.ModelStartSubgraphsVector(builder, many)
    graphs = _same(builder, graph, many)
    schema.BufferStart(builder)
    buffer = schema.BufferEnd(builder)
    schema.ModelStartBuffersVector(builder, 1)
    buffers = _same(builder, buffer, 1)
    schema.ModelStart(builder)
    schema.ModelAddSubgraphs(builder, graphs)
    schema.ModelAddBuffers(builder, buffers)
    builder.Finish(schema.ModelEnd(builder), b"TFL3")
    with pytest.raises(KerasBertError, match="a vector of 3000 entries"):
        ModelFile.read(bytes(builder.Output()))


def _same(builder, offset: int, times: int) -> int:
    for _ in range(times):
        builder.PrependUOffsetTRelative(offset)
    return builder.EndVector()


def test_a_file_that_is_too_large_is_not_read(tmp_path):
    path = tmp_path / "huge.tflite"
    with path.open("wb") as file:
        file.write(b"\x20\0\0\0TFL3")
        file.truncate((1 << 31) + 1)  # takes no room on the disk
    with pytest.raises(KerasBertError, match="at most 2"):
        ModelFile.read(path)
