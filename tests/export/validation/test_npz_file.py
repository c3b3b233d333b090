import io
import zipfile

import numpy as np
import pytest

from kerasbert.errors import KerasBertError
from kerasbert.export.validation.npz_file import read_npz
from kerasbert.files.read_limits import VARIABLE


def npy(values) -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.asarray(values))
    return stream.getvalue()


def archive(path, *members, compression=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", compression) as file:
        for name, data in members:
            file.writestr(name, data)
    return path


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_archives_of_numpy_are_read(tmp_path, save):
    arrays = {
        "ids": np.arange(6, dtype=np.int32).reshape(2, 3), "turned": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        "empty": np.zeros((0, 4)), "scalar": np.float16(1.5), "labels": np.array(["a", "né"]), "flags": np.array([True, False]),
        "big": np.arange(3, dtype=">i4"),
    }  # fmt: skip
    save(tmp_path / "a.npz", **arrays)
    read = read_npz(tmp_path / "a.npz")
    assert list(read) == list(arrays)
    for name, values in arrays.items():
        np.testing.assert_array_equal(read[name], values)
        assert read[name].dtype == values.dtype


IDS = npy(np.zeros((3, 8), "<i4"))


@pytest.mark.parametrize(
    ("name", "data", "received"),
    [
        ("x.npy", b"hello", "a member that is no .npy"),
        ("x", IDS, "'x', which is no .npy"),
        (
            "x.npy",
            IDS.replace(b"(3, 8), }", b"(9999999999,8)}"),
            r"int32 \(9999999999, 8\) \(319,999,999,968 bytes\) before 102",
        ),
        ("x.npy", IDS.replace(b"(3, 8)", b"(3, 8("), "a header that is no Python dict"),
        ("x.npy", IDS.replace(b"(3, 8)", b"(-3, 8)"), r"the shape \(-3, 8\)"),
        ("x.npy", IDS.replace(b"<i4", b"|O8"), "the type .O8, neither numbers nor texts"),
        ("x.npy", IDS.replace(b"'<i4'", b"'<m8[7]'"), "neither numbers nor texts"),
        ("x.npy", IDS.replace(b"shape", b"sharp"), "a header without descr"),
        ("x.npy", IDS[:-4], "before 92 bytes"),
        ("x.npy", IDS[:9], "unpack requires"),
        ("x.npy", npy(np.array([{}], object)), "the type .O"),
    ],
)
def test_members_with_wrong_headers_are_refused(tmp_path, name, data, received):
    path = archive(tmp_path / "a.npz", (name, data))
    with pytest.raises(KerasBertError, match=rf"a\.npz.*: expected an \.npz archive of arrays, received .*{received}"):
        read_npz(path)


def test_damaged_archives_are_refused(tmp_path):
    with pytest.raises(KerasBertError, match="no such file"):
        read_npz(tmp_path / "none.npz")
    whole = archive(tmp_path / "a.npz", ("x.npy", IDS * 50), compression=zipfile.ZIP_DEFLATED)
    damaged = bytearray(whole.read_bytes())
    damaged[60] ^= 255
    whole.write_bytes(damaged)
    with pytest.raises(KerasBertError, match="expected an .npz archive"):
        read_npz(whole)
    with pytest.raises(KerasBertError, match="in a compression that NumPy does not write"):
        read_npz(archive(tmp_path / "b.npz", ("x.npy", IDS), compression=zipfile.ZIP_LZMA))


def test_zip_bombs_are_refused(tmp_path, monkeypatch):
    path = archive(tmp_path / "a.npz", ("x.npy", npy(np.zeros((1024, 1024), "<i4"))), compression=zipfile.ZIP_DEFLATED)
    assert path.stat().st_size < 8000
    monkeypatch.setenv(VARIABLE, "2")
    with pytest.raises(KerasBertError, match=f"at most 2 MB of memory, .*; if you trust the file, set {VARIABLE}"):
        read_npz(path)
    monkeypatch.setenv(VARIABLE, "5")
    assert read_npz(path)["x"].shape == (1024, 1024)
