"""Missing optional packages and the command that installs them."""

import sys
import tomllib
from pathlib import Path

import pytest

from kerasbert.errors import KerasBertError
from kerasbert.optional import EXTRAS, import_optional, require_package

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())


def test_installed_packages_are_imported():
    assert import_optional("json.decoder", "a test") is sys.modules["json.decoder"]
    require_package("json", "a test")


@pytest.mark.parametrize("function", [import_optional, require_package])
def test_missing_package_error_names_the_extra(monkeypatch, function):
    monkeypatch.setitem(sys.modules, "keras_nlp", None)
    with pytest.raises(KerasBertError) as error:
        function("keras_nlp", "presets")
    assert str(error.value) == (
        "expected the package keras-nlp for presets, received none; install it: pip install 'kerasbert[presets]'"
    )
    with pytest.raises(KerasBertError, match="install it: pip install no-such-package"):
        function("no_such_package", "a test")


def test_broken_package_error_quotes_the_import_error(monkeypatch, tmp_path):
    (tmp_path / "broken_package.py").write_text("from json import nothing_of_this_name")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(KerasBertError, match="received one that cannot be imported .*nothing_of_this_name"):
        import_optional("broken_package", "a test")


def test_extras_match_pyproject():
    extras = PROJECT["project"]["optional-dependencies"]
    for package, extra in EXTRAS.items():
        assert any(line.startswith(package.replace("_", "-")) for line in extras[extra])


def test_tensorboard_is_checked_before_work_starts(monkeypatch, capsys, tmp_path):
    from kerasbert.cli import main

    monkeypatch.setitem(sys.modules, "tensorboard", None)
    command = ["train", "--model", "none", "--train", "none.tsv", "--out", str(tmp_path / "out"), "--tensorboard"]
    assert main(command) == 2
    message = "expected the package tensorboard for --tensorboard, received none; install it: pip install 'kerasbert[tensorboard]'"
    assert message in capsys.readouterr().err
