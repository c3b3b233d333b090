"""A loss of power: content is on the disk before a name refers to it, and the name before the writer reports success.

A recorder replaces the calls of `os`. It notes when a file is changed, synchronized and renamed, by inode.
"""

import errno
import os
from pathlib import Path

import pytest

from kerasbert.files import durability
from kerasbert.files.atomic import atomic_file, atomic_folder


class Recorder:
    """Checks each rename: all regular files below the source are synchronized since they were changed, and its folders."""

    def __init__(self, monkeypatch):
        self.synced: dict[int, int] = {}  # inode -> time of modification that was synchronized
        self.folders: set[Path] = set()
        self.unsynced: list[str] = []
        self.real = {name: getattr(os, name) for name in ("fsync", "replace", "rename")}
        for name in self.real:
            monkeypatch.setattr(os, name, getattr(self, name))

    def fsync(self, descriptor):
        facts = os.fstat(descriptor)
        self.synced[facts.st_ino] = facts.st_mtime_ns
        self.folders.add(Path(os.readlink(f"/proc/self/fd/{descriptor}")))
        self.real["fsync"](descriptor)

    def replace(self, source, target):
        self._check(Path(source))
        self.real["replace"](source, target)

    def rename(self, source, target):
        self._check(Path(source))
        self.real["rename"](source, target)

    def _check(self, source):
        for path in [source, *source.rglob("*")]:
            if path.is_symlink():
                continue
            if self.synced.get(path.stat().st_ino) != path.stat().st_mtime_ns:
                self.unsynced.append(path.name)


@pytest.fixture
def recorder(monkeypatch):
    if not Path("/proc/self/fd").is_dir():
        pytest.skip("the recorder needs /proc")
    return Recorder(monkeypatch)


def save(folder):
    with atomic_folder(folder) as partial:
        (partial / "deep").mkdir()
        (partial / "deep" / "weights").write_bytes(b"w" * 10_000)
        (partial / "config").write_text("c")


def test_files_are_synchronized_before_their_name_and_their_folder_after_it(recorder, tmp_path):
    for _ in range(2):
        recorder.folders.clear()
        with atomic_file(tmp_path / "a.json") as partial:
            partial.write_text("content")
        assert recorder.unsynced == [] and tmp_path in recorder.folders


@pytest.mark.parametrize("replaced", [False, True])
def test_folders_are_synchronized_whole_before_their_name(recorder, tmp_path, replaced):
    if replaced:
        save(tmp_path / "model")
        recorder.folders.clear()
    save(tmp_path / "model")
    assert recorder.unsynced == [] and tmp_path in recorder.folders


def test_the_recorder_finds_a_rename_without_synchronization(recorder, tmp_path, monkeypatch):
    monkeypatch.setattr(durability, "_sync", lambda path, flags: None)
    save(tmp_path / "model")
    assert {"config", "deep", "weights"} <= set(recorder.unsynced)


def test_a_disk_error_of_the_synchronization_keeps_the_old_file(tmp_path, monkeypatch):
    (tmp_path / "a").write_text("old")

    def fail(descriptor):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="Input/output error"), atomic_file(tmp_path / "a") as partial:
        partial.write_text("new")
    assert (tmp_path / "a").read_text() == "old" and [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_file_system_without_synchronization_is_accepted(tmp_path, monkeypatch):
    def refuse(descriptor):
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))

    monkeypatch.setattr(os, "fsync", refuse)
    with atomic_file(tmp_path / "a") as partial:
        partial.write_text("new")
    assert (tmp_path / "a").read_text() == "new"
