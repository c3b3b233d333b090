import tempfile
from pathlib import Path

import pytest

from kerasbert.files.atomic import atomic_file, atomic_folder
from kerasbert.files.cleanup import collect_temporary_files, run_cleanups, temporary_folder


def test_temporary_folder_is_removed_with_its_block():
    with temporary_folder("test") as folder:
        (folder / "a").write_text("a")
        assert folder.name.startswith("kerasbert-test-")
    assert not folder.exists()


@pytest.mark.parametrize("step", ["mkdir", "touch"])
def test_an_interrupt_while_a_folder_is_made_leaves_none(tmp_path, monkeypatch, step):
    original = getattr(Path, step)

    def interrupted(path, *args, **kwargs):
        original(path, *args, **kwargs)
        raise KeyboardInterrupt

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(Path, step, interrupted)
    with pytest.raises(KeyboardInterrupt), temporary_folder("test"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_run_cleanups_removes_all_open_temporary_files(tmp_path):
    (tmp_path / "old").write_text("old")
    with (
        pytest.raises(FileNotFoundError),
        temporary_folder("test") as folder,
        atomic_folder(tmp_path / "new") as new,
        atomic_file(tmp_path / "old") as file,
    ):
        file.write_text("half")
        (new / "a").write_text("half")
        run_cleanups()
        assert not folder.exists()
        assert [path.name for path in tmp_path.iterdir()] == ["old"] and (tmp_path / "old").read_text() == "old"


def test_finished_blocks_are_no_longer_registered(tmp_path):
    with temporary_folder("test") as folder:
        pass
    folder.mkdir()
    run_cleanups()
    assert folder.is_dir()
    folder.rmdir()


def test_temporary_files_of_libraries_are_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with collect_temporary_files():
        with tempfile.NamedTemporaryFile(prefix="__autograph_generated_file", delete=False) as file:
            parent = Path(file.name).parent
        with temporary_folder("test") as folder:
            assert folder.parent == tmp_path and parent.parent == tmp_path and len(list(tmp_path.iterdir())) == 2
        run_cleanups()
        assert not list(tmp_path.iterdir())
    assert tempfile.gettempdir() == str(tmp_path)


def test_only_abandoned_folders_of_ours_are_cleared(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for name in ("kerasbert-web-frontend", "kerasbert-graph-abandoned", "other"):
        (tmp_path / name).mkdir()
    for name in ("kerasbert-graph-abandoned", "other"):
        (tmp_path / name / ".kerasbert-temporary").touch()
    with temporary_folder("used") as used, temporary_folder("test") as folder:
        assert {path.name for path in tmp_path.iterdir()} == {"kerasbert-web-frontend", "other", used.name, folder.name}
