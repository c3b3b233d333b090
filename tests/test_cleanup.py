import tempfile
from pathlib import Path

import pytest

from kerasbert.cleanup import remove_all, temporary_files_kept_together, temporary_folder
from kerasbert.files.atomic import atomic_file, atomic_folder


def test_a_folder_is_gone_with_its_block():
    with temporary_folder("test") as folder:
        (folder / "a").write_text("a")
        assert folder.name.startswith("kerasbert-test-")
    assert not folder.exists()


def test_a_process_that_is_ended_removes_what_is_open_then(tmp_path):
    (tmp_path / "old").write_text("old")
    with (
        pytest.raises(FileNotFoundError),
        temporary_folder("test") as folder,
        atomic_folder(tmp_path / "new") as new,
        atomic_file(tmp_path / "old") as file,
    ):
        file.write_text("half")
        (new / "a").write_text("half")
        remove_all()
        assert not folder.exists()
        assert [path.name for path in tmp_path.iterdir()] == ["old"] and (tmp_path / "old").read_text() == "old"


def test_what_is_over_is_not_removed_again(tmp_path):
    with temporary_folder("test") as folder:
        pass
    folder.mkdir()
    remove_all()
    assert folder.is_dir()
    folder.rmdir()


def test_what_libraries_make_with_tempfile_goes_with_the_command(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with temporary_files_kept_together():
        with tempfile.NamedTemporaryFile(prefix="__autograph_generated_file", delete=False) as file:
            place = Path(file.name).parent
        with temporary_folder("test") as folder:
            assert folder.parent == tmp_path and place.parent == tmp_path and len(list(tmp_path.iterdir())) == 2
        remove_all()
        assert not list(tmp_path.iterdir())
    assert tempfile.gettempdir() == str(tmp_path)


def test_folders_of_killed_processes_are_cleared_and_no_others(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for name in ("kerasbert-web-frontend", "kerasbert-graph-abandoned", "other"):
        (tmp_path / name).mkdir()
    for name in ("kerasbert-graph-abandoned", "other"):
        (tmp_path / name / ".kerasbert-temporary").touch()
    with temporary_folder("used") as used, temporary_folder("test") as folder:
        assert {path.name for path in tmp_path.iterdir()} == {"kerasbert-web-frontend", "other", used.name, folder.name}
