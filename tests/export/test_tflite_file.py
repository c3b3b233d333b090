import numpy as np
import pytest

from kerasbert.errors import KerasBertError
from kerasbert.export.tflite_file import TFLiteFile


def test_reads_signature_operators_and_tensors(float_file, helpers):
    file = TFLiteFile.read(float_file)
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
    file = TFLiteFile.read(resizable_file)
    ids = file.subgraphs[0].tensors[file.signatures[0].inputs["input_ids"]]
    assert ids.shape == (1, -1)


def test_int8_kernel_is_quantized_per_channel(int8_file):
    tensors = TFLiteFile.read(int8_file).subgraphs[0].tensors
    (kernel,) = [tensor for tensor in tensors if tensor.dtype == "int8" and tensor.constant]
    assert kernel.quantization.per_channel and kernel.quantization.axis == 0
    assert kernel.nbytes == kernel.elements


@pytest.mark.parametrize("share", [0.01, 0.3, 0.9])
def test_truncated_file_is_one_line(float_file, share):
    data = float_file.read_bytes()
    with pytest.raises(KerasBertError) as error:
        TFLiteFile.read(data[: int(share * len(data))])
    assert "\n" not in str(error.value)


def test_damaged_bytes_never_raise_anything_else(float_file):
    data, draw = float_file.read_bytes(), np.random.default_rng(0)
    failed = 0
    for _ in range(150):
        damaged = bytearray(data)
        for place in draw.integers(8, len(data), 8):
            damaged[place] = draw.integers(256)
        try:
            TFLiteFile.read(bytes(damaged))
        except KerasBertError:
            failed += 1
    assert failed > 20


def test_foreign_and_missing_files(tmp_path):
    foreign = tmp_path / "model.onnx"
    foreign.write_bytes(b"not a model at all")
    with pytest.raises(KerasBertError, match="TFL3"):
        TFLiteFile.read(foreign)
    with pytest.raises(KerasBertError, match="not there"):
        TFLiteFile.read(tmp_path / "none.tflite")
    with pytest.raises(KerasBertError, match="a folder"):
        TFLiteFile.read(tmp_path)
