import pytest

from kerasbert.errors import KerasBertError
from kerasbert.export.backends.environments.environment import Environment


class Fake(Environment):
    def _install(self):
        (self.folder / "package").write_text("installed")


@pytest.fixture
def environment(tmp_path, monkeypatch):
    monkeypatch.setenv("KERASBERT_HOME", str(tmp_path))
    return Fake("web", "tests", ("package==1",))


def test_an_environment_is_replaced(environment):
    for _ in range(2):
        environment.make(report=lambda line: None)
        assert environment.ready
    (environment.folder / ".complete").unlink()  # as a killed one is left
    environment.make(report=lambda line: None)
    assert environment.ready


@pytest.mark.parametrize("name", ["site.html", "web"])
def test_foreign_folders_are_kept(environment, tmp_path, name):
    if name == "web":
        (tmp_path / "web").write_text("mine")
    else:
        (tmp_path / "web").mkdir()
        (tmp_path / "web" / name).write_text("mine")
    with pytest.raises(KerasBertError, match="web' to be new or kerasbert's, received another folder; move it away"):
        environment.make(report=lambda line: None)
    assert (tmp_path / "web").is_file() or (tmp_path / "web" / name).read_text() == "mine"
