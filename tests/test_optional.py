"""A package that is missing is told with the line that installs it."""

import sys
import tomllib
from pathlib import Path

import pytest

from kerasbert.errors import KerasBertError
from kerasbert.optional import EXTRAS, optional, require

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())


def test_what_is_there_is_imported():
    assert optional("json.decoder", "a test") is sys.modules["json.decoder"]
    require("json", "a test")


@pytest.mark.parametrize("ask", [optional, require])
def test_what_is_missing_is_told(monkeypatch, ask):
    monkeypatch.setitem(sys.modules, "keras_nlp", None)
    with pytest.raises(KerasBertError) as error:
        ask("keras_nlp", "presets")
    assert str(error.value) == (
        "expected the package keras-nlp for presets, received none; install it: pip install 'kerasbert[presets]'"
    )
    with pytest.raises(KerasBertError, match="install it: pip install no-such-package"):
        ask("no_such_package", "a test")


def test_what_is_broken_is_told(monkeypatch, tmp_path):
    (tmp_path / "broken_package.py").write_text("from json import nothing_of_this_name")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(KerasBertError, match="received one that cannot be imported .*nothing_of_this_name"):
        optional("broken_package", "a test")


def test_every_extra_is_one_of_the_project():
    extras = PROJECT["project"]["optional-dependencies"]
    for package, extra in EXTRAS.items():
        assert any(line.startswith(package.replace("_", "-")) for line in extras[extra])


def test_tensorboard_is_asked_for_before_work_starts(monkeypatch, capsys, tmp_path):
    from kerasbert.cli import main

    monkeypatch.setitem(sys.modules, "tensorboard", None)
    command = ["train", "--model", "none", "--train", "none.tsv", "--out", str(tmp_path / "out"), "--tensorboard"]
    assert main(command) == 2
    told = "expected the package tensorboard for --tensorboard, received none; install it: pip install 'kerasbert[tensorboard]'"
    assert told in capsys.readouterr().err
