import json
from dataclasses import replace

import pytest

from kerasbert.export import inspect
from kerasbert.export.tflite import metadata
from kerasbert.export.tflite.op_versions import RUNTIME_VERSIONS, minimum_runtime


def test_inspects_a_float_file(float_file, helpers):
    found = inspect(float_file)
    assert found.parameters == helpers.PARAMETERS
    assert found.bytes_per_parameter == found.size / helpers.PARAMETERS
    assert found.quantized_parameter_share == 0 and found.mac_shares["float"] == 1
    assert found.recipe == "float32"
    # 1 x 16 by 16 x 64, 1 x 64 by 64 x 3, and two products of (8, 16) with (8, 16) and (8, 8) with (8, 16).
    assert found.macs == 16 * 64 + 64 * 3 + 2 * 8 * 8 * 16
    assert found.size_by_part["embeddings"] == 30 * 16 * 4
    assert found.size_by_part["dense kernels"] == 4 * (16 * 64 + 64 * 3)
    assert sum(found.size_by_part.values()) == found.size
    assert found.minimum_runtime == "2.9"  # GELU
    assert found.flex_operators == found.custom_operators == ()
    assert found.signatures[0].inputs["input_ids"] == "int32[1, 8]"
    assert found.metadata is None


def test_inspects_a_dynamic_int8_file(int8_file, helpers):
    found = inspect(int8_file)
    assert found.parameters == helpers.PARAMETERS
    assert found.quantized_parameter_share == pytest.approx(16 * 64 / helpers.PARAMETERS)
    assert found.mac_shares["dynamic"] == pytest.approx(16 * 64 / found.macs)
    assert found.recipe == "dynamic_wi8_afp32"
    assert found.minimum_runtime == "2.17"  # FULLY_CONNECTED v12


def test_a_partitioned_model_has_the_size_of_both_files(float_file, card, tmp_path):
    body, host = tmp_path / "model.tflite", tmp_path / "model.host.tflite"
    body.write_bytes(metadata.append(float_file, replace(card, target="edge-tpu", parameters=10_000)))
    alone = inspect(body)
    host.write_bytes(bytes(5000))
    found = inspect(body)
    assert found.parameters == 10_000 and found.stored_parameters == alone.stored_parameters < 10_000
    assert found.bytes_per_parameter == (body.stat().st_size + 5000) / 10_000 == alone.bytes_per_parameter + 0.5


def test_operator_versions_that_are_too_low_are_corrected(int8_file, monkeypatch):
    from kerasbert.export.tflite import graph_reader

    reader = graph_reader._Reader._operator_code
    monkeypatch.setattr(graph_reader._Reader, "_operator_code", lambda self, code: (reader(self, code)[0], 1, False))
    assert inspect(int8_file).minimum_runtime == "2.17"


def test_float16_kernels_are_found_behind_dequantize(half_file, helpers):
    found = inspect(half_file)
    assert found.recipe == "float16" and found.parameters == helpers.PARAMETERS
    assert found.size_by_part["dense kernels"] == 2 * (16 * 64 + 64 * 3)
    assert found.size_by_part["embeddings"] == 30 * 16 * 2


def test_packed_files_and_metadata_are_shown(float_file, card, tmp_path):
    path = tmp_path / "packed.tflite"
    path.write_bytes(metadata.append(float_file, card))
    found = inspect(path)
    assert found.size_by_part["packed files"] == path.stat().st_size - float_file.stat().st_size
    assert found.metadata["labels"] == "a, b, c" and found.metadata["vocabulary"] == "30 tokens"
    assert json.loads(json.dumps(found.as_dict()))["recipe"] == "float32"
    text = found.table()
    assert "FULLY_CONNECTED" in text and "int32[1, 8]" in text and "TextClassifier" in text


def test_the_minimum_runtime_supports_every_operator():
    assert minimum_runtime({("FULLY_CONNECTED", 9), ("SOFTMAX", 1)}) == "2.3"
    assert minimum_runtime({("FULLY_CONNECTED", 12), ("GELU", 2)}) == "2.17"
    assert minimum_runtime({("TRANSPOSE", 6), ("RESHAPE", 1)}) == "2.12"  # by number, not by text: 2.12 > 2.9
    assert minimum_runtime({("FULLY_CONNECTED", 99)}) == "unknown (FULLY_CONNECTED v99)"
    assert minimum_runtime({("NEW_OPERATOR", 1), ("ADD", 1)}) == "unknown (NEW_OPERATOR v1)"
    assert ("BROADCAST_TO", 1) not in RUNTIME_VERSIONS


def test_the_metadata_s_word_is_not_believed_against_the_graph(float_file, card, tmp_path, helpers):
    path = tmp_path / "forged.tflite"
    path.write_bytes(metadata.append(float_file, replace(card, recipe="static_wi8_ai8", parameters=10**9)))
    found = inspect(path)
    assert found.recipe == "float32" and found.parameters == helpers.PARAMETERS
    assert "float32 by its tensors; the metadata say static_wi8_ai8" in found.table()
    assert "the graph's: the metadata say 1,000,000,000" in found.table()
