import json
import pickle
import struct
import sys
import zipfile
from collections import OrderedDict

import numpy as np
import pytest

from kerasbert.checkpoints.pytorch_file import INDEX_FILE, WEIGHTS_FILE, read_file, read_tensors
from kerasbert.errors import KerasBertError


@pytest.fixture(params=["zip", "legacy"])
def write(request, torch_files):
    """Writes one file in either format."""
    return torch_files.zip_file if request.param == "zip" else torch_files.legacy_file


def complaint(call, *arguments):
    with pytest.raises(KerasBertError) as caught:
        call(*arguments)
    message = str(caught.value)
    assert "\n" not in message and len(message) < 800
    return message


def test_every_kind_of_tensor_is_read_exactly(tmp_path, write, torch_files):
    t = torch_files
    values = np.array([[1.5, -2.25, 0.1], [1e30, -np.inf, 6e-8]], np.float32)
    halves = np.array([[1.5, -2.25], [6e-8, np.inf]], np.float16)  # 6e-8 is below the smallest normal one
    content = OrderedDict(
        matrix=t.tensor(values),
        half=t.tensor(halves, "HalfStorage"),
        brain=t.bfloat16(values),
        double=t.tensor([0.1, 2.0], "DoubleStorage"),
        ids=t.tensor([[0, 2**40]], "LongStorage"),
        flags=t.tensor([1, 0], "BoolStorage"),
        scalar=t.tensor(2.5),
        empty=t.tensor(np.zeros((0, 4))),
        parameter=t.tensor(values, parameter=True),
    )
    read = read_file(write(tmp_path / "x.bin", content))
    assert list(read) == list(content)
    floats = [name for name in read if name not in ("ids", "flags")]
    assert all(read[name].dtype == np.float32 for name in floats)
    assert read["ids"].dtype == np.int64 and read["flags"].dtype == bool
    for name in ("matrix", "parameter"):
        np.testing.assert_array_equal(read[name], values)
    np.testing.assert_array_equal(read["half"], halves.astype(np.float32))
    np.testing.assert_array_equal(read["brain"].view(np.uint32), values.view(np.uint32) >> 16 << 16)
    np.testing.assert_array_equal(read["double"], np.array([0.1, 2.0], np.float32))
    np.testing.assert_array_equal(read["ids"], [[0, 2**40]])
    np.testing.assert_array_equal(read["flags"], [True, False])
    assert read["scalar"].shape == () and read["scalar"] == 2.5 and read["empty"].shape == (0, 4)


def test_views_of_one_storage(tmp_path, write, torch_files):
    t, shared = torch_files, torch_files.Storage("FloatStorage", range(12))
    content = {
        "whole": t.Tensor(shared, (3, 4)),
        "tied": t.Tensor(shared, (3, 4)),
        "transposed": t.Tensor(shared, (4, 3), (1, 4)),
        "part": t.Tensor(shared, (2, 2), (4, 1), offset=5),
        "odd stride": t.Tensor(shared, (1, 12), (10**6, 1)),
    }
    read, whole = read_file(write(tmp_path / "x.bin", content)), np.arange(12).reshape(3, 4)
    np.testing.assert_array_equal(read["transposed"], whole.T)
    np.testing.assert_array_equal(read["part"], whole[1:, 1:3])
    np.testing.assert_array_equal(read["odd stride"], whole.reshape(1, 12))
    assert np.shares_memory(read["whole"], read["tied"]) and not read["whole"].flags.writeable


def test_big_endian_archive(tmp_path, torch_files):
    content = {"a": torch_files.tensor([1.5, 2.0]), "n": torch_files.tensor([1, 2], "LongStorage")}
    path = torch_files.zip_file(tmp_path / "x.bin", content, byteorder=b"big")
    turned = np.array([1.5, 2.0], "<f4").byteswap().view("<f4")
    np.testing.assert_array_equal(read_file(path)["a"], turned)
    np.testing.assert_array_equal(read_file(path)["n"], np.array([1, 2], "<i8").byteswap())
    older = torch_files.zip_file(tmp_path / "y.bin", content, without=("byteorder",))
    np.testing.assert_array_equal(read_file(older)["a"], [1.5, 2.0])
    path = torch_files.zip_file(tmp_path / "x.bin", content, byteorder=b"middle")
    assert "byte order" in complaint(read_file, path)


class Exploit:
    def __reduce__(self):
        return print, ("run",)


def test_nothing_in_a_hostile_file_runs(tmp_path, write, torch_files, capsys):
    message = complaint(read_file, write(tmp_path / "x.bin", {"a": torch_files.tensor([1.0]), "b": Exploit()}))
    assert "builtin__.print" in message and "save_pretrained" in message
    (tmp_path / "plain").write_bytes(pickle.dumps(Exploit()))
    assert "neither its zip archive nor its older format" in complaint(read_file, tmp_path / "plain")
    assert capsys.readouterr().out == "" and "torch" not in sys.modules


@pytest.mark.parametrize("content", [[], "text", {"a": 5}, {"state_dict": {}}, {5: None}, None])
def test_content_must_be_a_state_dict(tmp_path, write, content):
    assert "a dict of tensors by name" in complaint(read_file, write(tmp_path / "x.bin", content))


def test_storage_with_two_kinds(tmp_path, write, torch_files):
    class Fickle(torch_files.Storage):
        """A storage with another kind at each access."""

        @property
        def kind(self):
            self.kinds = self.kinds[::-1]
            return self.kinds[0]

        def __init__(self):
            self.kinds, self.data = ["FloatStorage", "IntStorage"], np.zeros(2, "<f4")

    storage = Fickle()
    content = {"a": torch_files.Tensor(storage, (2,)), "b": torch_files.Tensor(storage, (2,))}
    assert "one kind and size for each storage" in complaint(read_file, write(tmp_path / "x.bin", content))


def test_truncated_files(tmp_path, write, torch_files):
    path = write(tmp_path / "x.bin", {"a": torch_files.tensor(np.ones(8)), "b": torch_files.tensor([1.0])})
    whole = path.read_bytes()
    for length in range(0, len(whole), 7):
        path.write_bytes(whole[:length])
        complaint(read_file, path)
    path.write_bytes(whole + b"more")
    if whole[:2] == b"PK":
        read_file(path)  # the directory is searched from the end, where a comment is allowed
    else:
        assert "its last storage to end" in complaint(read_file, path)


def test_changed_bytes_never_raise_anything_else(tmp_path, write, torch_files):
    path = write(tmp_path / "x.bin", {"a": torch_files.tensor(np.ones(3)), "b": torch_files.bfloat16([1.0])})
    whole, draw = path.read_bytes(), np.random.default_rng(0)
    for _ in range(300):
        changed = bytearray(whole)
        for place in draw.integers(len(whole), size=draw.integers(1, 4)):
            changed[place] = draw.integers(256)
        path.write_bytes(changed)
        try:
            read_file(path)
        except KerasBertError as error:
            assert "\n" not in str(error)


def test_compressed_members(tmp_path, torch_files):
    content = {"a": torch_files.tensor(np.zeros(100_000))}
    path = torch_files.zip_file(tmp_path / "bomb.bin", content, compression=zipfile.ZIP_DEFLATED)
    assert path.stat().st_size < 5000
    assert "without compression" in complaint(read_file, path)


def test_members_that_share_their_bytes(tmp_path, torch_files):
    """A zip directory may list the same bytes many times."""
    path = torch_files.zip_file(tmp_path / "x.bin", {"a": torch_files.tensor(np.zeros(1000))})
    with zipfile.ZipFile(path, "a") as archive:
        member = next(m for m in archive.infolist() if m.file_size == 4000)
        for i in range(50):
            again = zipfile.ZipInfo(f"archive/data/{i + 1}")
            again.file_size = again.compress_size = member.file_size
            again.CRC, again.header_offset, again.create_system = member.CRC, member.header_offset, 3
            archive.filelist.append(again)
            archive.NameToInfo[again.filename] = again
        archive._didModify = True
    assert "members of at most" in complaint(read_file, path)


def test_missing_and_wrong_members(tmp_path, torch_files):
    content, write = {"a": torch_files.tensor([1.0, 2.0])}, torch_files.zip_file
    assert "one data.pkl" in complaint(read_file, write(tmp_path / "a", content, without=("data.pkl",)))
    twice = write(tmp_path / "b", content, extra=[("other/data.pkl", b"")])
    assert "one data.pkl in the archive, received 2" in complaint(read_file, twice)
    assert "storage '0' of 8 bytes, received none" in complaint(
        read_file, write(tmp_path / "c", content, without=("data/0",))
    )
    short = write(tmp_path / "d", content, without=("data/0",), extra=[("archive/data/0", b"\0" * 7)])
    assert "storage '0' of 8 bytes, received 7 bytes" in complaint(read_file, short)
    # Names with a path are harmless: nothing is unpacked.
    assert list(read_file(write(tmp_path / "e", content, extra=[("../../elsewhere", b"x")]))) == ["a"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b", "c", "d", "e"]


def test_start_of_the_legacy_format_is_checked(tmp_path, torch_files):
    content, write = {"a": torch_files.tensor([1.0])}, torch_files.legacy_file
    assert "neither" in complaint(read_file, write(tmp_path / "a", content, magic=7))
    assert "protocol 1001, received 999" in complaint(read_file, write(tmp_path / "b", content, protocol=999))
    assert "little-endian" in complaint(read_file, write(tmp_path / "c", content, little_endian=False))
    pointer = tmp_path / "pytorch_model.bin"
    pointer.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n")
    assert "git lfs pull" in complaint(read_file, pointer)


def test_storages_of_the_legacy_format_are_checked(tmp_path, torch_files):
    path = torch_files.legacy_file(tmp_path / "x.bin", {"a": torch_files.tensor([1.0, 2.0])})
    whole, count = path.read_bytes(), struct.pack("<q", 2)
    assert whole.count(count) == 1
    path.write_bytes(whole.replace(count, struct.pack("<q", 2**60)))
    assert "2 numbers, received 1152921504606846976" in complaint(read_file, path)
    path.write_bytes(whole.replace(pickle.dumps(["0"], 2), pickle.dumps(["1"], 2)))
    assert "a list of 1 storage" in complaint(read_file, path)


def test_shards_are_joined(tmp_path, torch_files):
    torch_files.zip_file(tmp_path / "x.bin", {"a": torch_files.tensor([1.0], "HalfStorage")})
    torch_files.legacy_file(tmp_path / "y.bin", {"b": torch_files.bfloat16([2.0])})
    (tmp_path / INDEX_FILE).write_text(json.dumps({"weight_map": {"a": "x.bin", "b": "y.bin"}}))
    read = read_tensors(tmp_path)
    assert read == {"a": [1.0], "b": [2.0]} and {tensor.dtype for tensor in read.values()} == {np.dtype(np.float32)}


@pytest.mark.parametrize("shard", ["../x.bin", "/tmp/x.bin", "sub/x.bin", "x.safetensors", "x.bin\n", 5])
def test_shards_must_be_in_the_same_folder(tmp_path, torch_files, shard):
    folder = tmp_path / "folder"
    (folder / "sub").mkdir(parents=True)
    for place in (tmp_path, folder, folder / "sub"):
        torch_files.zip_file(place / "x.bin", {"a": torch_files.tensor([1.0])})
    (folder / INDEX_FILE).write_text(json.dumps({"weight_map": {"a": shard}}))
    assert "plain .bin file names" in complaint(read_tensors, folder)


def test_single_file_takes_precedence_over_an_index(tmp_path, torch_files):
    assert "neither" in complaint(read_tensors, tmp_path)
    torch_files.zip_file(tmp_path / WEIGHTS_FILE, {"single": torch_files.tensor([1.0])})
    (tmp_path / INDEX_FILE).write_text("not looked at")
    assert list(read_tensors(tmp_path)) == ["single"]
    assert "FileNotFoundError" in complaint(read_file, tmp_path / "missing.bin")
