import pytest

from kerasbert.files import atomic_file, atomic_folder
from kerasbert.leftovers import remove_all, temporary_folder


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
