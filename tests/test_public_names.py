"""The names of packages that import on first use, which a stub lists for users, for the run time and for type checkers."""

import ast
import importlib
from pathlib import Path

import pytest

import kerasbert

FACADES = (
    "kerasbert",
    "kerasbert.compression",
    "kerasbert.data",
    "kerasbert.export",
    "kerasbert.plots",
    "kerasbert.training",
)


@pytest.mark.parametrize("name", FACADES)
def test_every_name_of_a_stub_resolves(name):
    package = importlib.import_module(name)
    stub = ast.parse(Path(package.__file__).with_suffix(".pyi").read_text("utf-8"))
    names = {alias.name for node in stub.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert names <= set(dir(package)) and len(names) > 5
    assert all(getattr(package, each) is not None for each in dir(package))
    with pytest.raises(AttributeError, match=f"module '{name}' has no attribute 'nothing'"):
        _ = package.nothing


def test_star_imports_do_not_shadow_open():
    assert callable(kerasbert.open) and "open" not in kerasbert.__all__ and "__version__" in kerasbert.__all__
