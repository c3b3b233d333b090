import json
import os
import struct

import numpy as np
import pytest
import safetensors.numpy

from kerasbert.checkpoints.safetensors_file import (
    INDEX_FILE,
    MAX_HEADER_BYTES,
    WEIGHTS_FILE,
    read_file,
    read_header,
    read_tensors,
    write_shards,
    write_tensors,
)
from kerasbert.errors import KerasBertError


def raw_file(path, header, data=b"", length=None):
    """Write an invalid file: the header as text, bytes or an object, with a correct or a wrong length."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text) if length is None else length) + text + data)
    return path


def one(dtype="F32", shape=(2,), offsets=(0, 8)):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


def complaint(call, *arguments):
    with pytest.raises(KerasBertError) as caught:
        call(*arguments)
    text = str(caught.value)
    assert "\n" not in text and len(text) < 1000
    return text


def sharded(folder, weight_map, **shards):
    for name, tensors in shards.items():
        safetensors.numpy.save_file(tensors, folder / f"{name}.safetensors")
    (folder / INDEX_FILE).write_text(json.dumps({"metadata": {}, "weight_map": weight_map}))


def test_round_trip_keeps_values_shapes_and_integers(tmp_path):
    tensors = {
        "matrix": np.arange(6, dtype=np.float32).reshape(2, 3),
        "transposed": np.arange(6, dtype=np.float32).reshape(2, 3).T,
        "scalar": np.array(3.5, np.float32),
        "empty": np.zeros((0, 4), np.float32),
        "ids": np.arange(3, dtype=np.int64),
        "flags": np.array([True, False]),
        "big-endian": np.array([1.5, 2.0], ">f4"),
    }
    write_tensors(tmp_path / WEIGHTS_FILE, tensors)
    read = read_tensors(tmp_path)
    assert read.keys() == tensors.keys()
    for name, tensor in tensors.items():
        np.testing.assert_array_equal(read[name], tensor)
        assert read[name].shape == tensor.shape and read[name].dtype.kind == tensor.dtype.kind
    assert read["ids"].dtype == np.int64
    with safetensors.safe_open(tmp_path / WEIGHTS_FILE, "np") as file:
        assert file.metadata() == {"format": "pt"}
    assert [path.name for path in tmp_path.iterdir()] == [WEIGHTS_FILE]


def test_custom_metadata(tmp_path):
    write_tensors(tmp_path / "quantization.safetensors", {"a": np.zeros(1, np.float32)}, metadata={"recipe": "x"})
    with safetensors.safe_open(tmp_path / "quantization.safetensors", "np") as file:
        assert file.metadata() == {"recipe": "x"}


@pytest.mark.parametrize("dtype", [np.float16, np.float64])
def test_other_floats_become_float32(tmp_path, dtype):
    write_tensors(tmp_path / WEIGHTS_FILE, {"a": np.array([1.5, -2.25], dtype)})
    read = read_tensors(tmp_path)["a"]
    assert read.dtype == np.float32
    np.testing.assert_array_equal(read, np.array([1.5, -2.25], np.float32))


def test_bfloat16_becomes_float32(tmp_path):
    values = np.array([[1.5, -2.25, 1e30], [0.0, -np.inf, 3.0e-39]], np.float32)
    halves = (values.view(np.uint32) >> 16).astype("<u2")
    header = {"before": one("U8", (4,), (0, 4)), "a": one("BF16", (2, 3), (4, 16))}
    raw_file(tmp_path / WEIGHTS_FILE, header, b"\1\2\3\4" + halves.tobytes())
    read = read_tensors(tmp_path)
    assert read["a"].dtype == np.float32 and read["a"].shape == (2, 3)
    np.testing.assert_array_equal(read["a"].view(np.uint32), (values.view(np.uint32) >> 16) << 16)
    np.testing.assert_array_equal(read["before"], [1, 2, 3, 4])


def test_failed_write_keeps_the_old_file(tmp_path):
    path = tmp_path / WEIGHTS_FILE
    write_tensors(path, {"a": np.ones(2, np.float32)})
    with pytest.raises(KerasBertError, match="expected a writable file"):
        write_tensors(path, {"a": np.array(["text"])})
    np.testing.assert_array_equal(read_file(path)["a"], [1, 1])
    assert [p.name for p in tmp_path.iterdir()] == [WEIGHTS_FILE]


def test_missing_files(tmp_path):
    assert "no such folder" in complaint(read_tensors, tmp_path / "nowhere")
    text = complaint(read_tensors, tmp_path)
    assert WEIGHTS_FILE in text and INDEX_FILE in text and "neither" in text
    assert "no such file" in complaint(read_header, tmp_path / "x.safetensors")
    assert "a folder" in complaint(read_header, tmp_path)


@pytest.mark.parametrize("count", [0, 7])
def test_file_shorter_than_its_length_field(tmp_path, count):
    path = tmp_path / WEIGHTS_FILE
    path.write_bytes(b"\0" * count)
    assert f"at least 8 bytes, received {count}" in complaint(read_file, path)


def test_huge_header_is_rejected(tmp_path):
    text = complaint(read_file, raw_file(tmp_path / "a", b"{}", length=2**63))
    assert str(MAX_HEADER_BYTES) in text and str(2**63) in text
    assert str(tmp_path / "a") in text


def test_header_larger_than_the_file_is_rejected(tmp_path):
    assert "a header of 50, received a file of 10" in complaint(read_file, raw_file(tmp_path / "a", b"{}", length=50))


@pytest.mark.parametrize(
    "header",
    [b"not json", b"\xff\xfe{}", b"[" * 100_000, b'{"a": 1', b'"text"', b"[]", b"", b'{"a": ' + b"9" * 5000 + b"}"],
    ids=["text", "utf-8", "nested", "cut", "string", "array", "empty", "digits"],
)
def test_header_must_be_a_json_object(tmp_path, header):
    assert "JSON" in complaint(read_file, raw_file(tmp_path / "a", header))


@pytest.mark.parametrize(
    "entry",
    [
        5,
        {"dtype": "F32", "shape": [2]},
        one(dtype="F8_E4M3", offsets=(0, 2)),
        one(dtype=["F32"]),
        one(shape=(-2,)),
        one(shape=(2.0,)),
        one(shape=(True, 2)),
        one(shape=(0, 2**64), offsets=(0, 0)),
        one(shape=[1] * 33, offsets=(0, 4)),
        one(offsets=(8, 0)),
        one(offsets=(-8, 0)),
        one(offsets=(0, 8, 8)),
        one(offsets=("0", "8")),
        one(offsets=(0, 4)),
        one(shape=(3,)),
        one(shape=[2**62] * 32),
    ],
    ids=lambda entry: str(entry)[:60],
)
def test_invalid_header_entries(tmp_path, entry):
    assert "tensor 'weight'" in complaint(read_file, raw_file(tmp_path / "a", {"weight": entry}, b"\0" * 8))


def test_byte_range_must_match_the_shape(tmp_path):
    text = complaint(read_file, raw_file(tmp_path / "a", {"w": one(shape=(3,))}, b"\0" * 8))
    assert "expected 12 bytes for F32 [3], received 8" in text


def test_truncated_data(tmp_path):
    path = tmp_path / WEIGHTS_FILE
    write_tensors(path, {"a": np.ones(8, np.float32), "b": np.ones(8, np.float32)})
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    text = complaint(read_file, path)
    assert f"byte {len(whole)}" in text and f"a file of {len(whole) - 1}" in text and "truncated" in text


def test_offsets_must_be_inside_the_file(tmp_path):
    raw_file(tmp_path / "a", {"w": one(shape=(2**40,), offsets=(0, 2**42))}, b"\0" * 8)
    assert "truncated" in complaint(read_file, tmp_path / "a")


def test_tensors_must_not_overlap(tmp_path):
    raw_file(tmp_path / "a", {"v": one(), "w": one(offsets=(4, 12))}, b"\0" * 12)
    text = complaint(read_file, tmp_path / "a")
    assert "overlaps" in text and "'w'" in text


def test_tensors_must_cover_the_data(tmp_path):
    raw_file(tmp_path / "a", {"v": one(), "w": one(offsets=(12, 20))}, b"\0" * 20)
    assert "gap" in complaint(read_file, tmp_path / "a")
    raw_file(tmp_path / "b", {"v": one()}, b"\0" * 9)
    assert "a file of" in complaint(read_file, tmp_path / "b")


def test_duplicate_names_are_rejected(tmp_path):
    entry = json.dumps(one())
    raw_file(tmp_path / "a", f'{{"weight": {entry}, "weight": {entry}}}'.encode(), b"\0" * 8)
    assert "'weight' twice" in complaint(read_file, tmp_path / "a")


def test_hostile_names_are_shortened(tmp_path):
    text = complaint(read_file, raw_file(tmp_path / "a", {"line\nbreak" + "x" * 10**6: one(dtype="?")}, b"\0" * 8))
    assert "line\\nbreak" in text


def test_errors_of_the_library_are_one_line(tmp_path):
    raw_file(tmp_path / "a", {"__metadata__": {"count": 1}, "w": one()}, b"\0" * 8)
    assert "SafetensorError" in complaint(read_file, tmp_path / "a")


def test_shards_are_joined(tmp_path):
    a, b, c = (np.full(2, value, np.float32) for value in (1, 2, 3))
    sharded(tmp_path, {"a": "x.safetensors", "b": "y.safetensors"}, x={"a": a}, y={"b": b, "unnamed": c})
    read = read_tensors(tmp_path)
    assert sorted(read) == ["a", "b", "unnamed"]
    np.testing.assert_array_equal(np.concatenate([read["a"], read["b"], read["unnamed"]]), [1, 1, 2, 2, 3, 3])


def test_shards_of_half_precision_become_float32(tmp_path):
    half, brain = np.array([1.5, 6e-8], np.float16), np.array([1.5, -1e30], np.float32)
    upper = (brain.view(np.uint32) >> 16).astype("<u2")
    sharded(tmp_path, {"a": "x.safetensors", "b": "y.safetensors"}, x={"a": half})
    raw_file(tmp_path / "y.safetensors", {"b": one("BF16", (2,), (0, 4))}, upper.tobytes())
    read = read_tensors(tmp_path)
    np.testing.assert_array_equal(read["a"], half.astype(np.float32))
    np.testing.assert_array_equal(read["b"].view(np.uint32), brain.view(np.uint32) >> 16 << 16)
    assert read["a"].dtype == read["b"].dtype == np.float32


def test_single_file_takes_precedence_over_an_index(tmp_path):
    write_tensors(tmp_path / WEIGHTS_FILE, {"single": np.ones(1, np.float32)})
    (tmp_path / INDEX_FILE).write_text("not looked at")
    assert list(read_tensors(tmp_path)) == ["single"]


def test_symbolic_links_are_read(tmp_path):
    blobs, snapshot = tmp_path / "blobs", tmp_path / "snapshots" / "abc"
    snapshot.mkdir(parents=True)
    blobs.mkdir()
    write_tensors(blobs / "0123", {"a": np.ones(1, np.float32)})
    (snapshot / "x.safetensors").symlink_to(os.path.join("..", "..", "blobs", "0123"))
    (snapshot / INDEX_FILE).write_text(json.dumps({"weight_map": {"a": "x.safetensors"}}))
    assert list(read_tensors(snapshot)) == ["a"]


@pytest.mark.parametrize(
    "shard",
    [
        "../x.safetensors",
        "/tmp/x.safetensors",
        "sub/x.safetensors",
        "..\\x.safetensors",
        "C:x.safetensors",
        "..safetensors",
        "x\n.safetensors",
        "x\0.safetensors",
        "passwords.txt",
        ".safetensors/..",
        "",
        5,
        None,
        ["x.safetensors"],
    ],
)
def test_shard_names_must_be_plain_file_names(tmp_path, shard):
    outside = np.ones(1, np.float32)
    folder = tmp_path / "folder"
    (folder / "sub").mkdir(parents=True)
    for place in (tmp_path, folder, folder / "sub"):
        safetensors.numpy.save_file({"a": outside}, place / "x.safetensors")
    sharded(folder, {"a": shard})
    assert "plain .safetensors file names" in complaint(read_tensors, folder)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"weight_map": []}', '{"weight_map": {}}', "[" * 100_000, "5"])
def test_index_without_weight_map(tmp_path, text):
    (tmp_path / INDEX_FILE).write_text(text)
    assert "weight_map" in complaint(read_tensors, tmp_path)


def test_too_long_shard_name(tmp_path):
    (tmp_path / INDEX_FILE).write_text(json.dumps({"weight_map": {"w": "a" * 5000 + ".safetensors"}}))
    assert "plain .safetensors file names" in complaint(read_tensors, tmp_path)


def test_index_must_be_utf8(tmp_path):
    (tmp_path / INDEX_FILE).write_bytes(b"\xff\xfe")
    assert "weight_map" in complaint(read_tensors, tmp_path)


def test_missing_shard_and_missing_tensor(tmp_path):
    ones = np.ones(1, np.float32)
    sharded(tmp_path, {"a": "x.safetensors", "b": "y.safetensors"}, x={"a": ones})
    assert "'y.safetensors'" in complaint(read_tensors, tmp_path)
    sharded(tmp_path, {"a": "x.safetensors", "b": "x.safetensors", "c": "x.safetensors"}, x={"a": ones})
    text = complaint(read_tensors, tmp_path)
    assert "'b'" in text and "'x.safetensors'" in text and "2 such tensors" in text


def test_tensor_in_two_shards(tmp_path):
    ones = np.ones(1, np.float32)
    sharded(tmp_path, {"a": "x.safetensors", "b": "y.safetensors"}, x={"a": ones}, y={"a": ones, "b": ones})
    assert "'a' in 'x.safetensors' only" in complaint(read_tensors, tmp_path)


def test_shards_are_read_back_and_stay_below_their_size(tmp_path):
    tensors = {name: np.full((4, 5), number, np.float32) for number, name in enumerate("abcde")}  # 80 bytes each
    write_shards(tmp_path, tensors, 170)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        *(f"model-{number:05}-of-00003.safetensors" for number in (1, 2, 3)),
        INDEX_FILE,
    ]
    read = read_tensors(tmp_path)
    assert all(np.array_equal(read[name], tensor) for name, tensor in tensors.items()) and len(read) == 5


def test_tensors_that_fit_one_shard_have_no_index(tmp_path):
    write_shards(tmp_path, {"a": np.zeros(3, np.float32)}, 100)
    assert [path.name for path in tmp_path.iterdir()] == [WEIGHTS_FILE]
