"""The names of `import kerasbert`, which `__init__.py` lists for users, for the run time and for type checkers."""

import ast
from pathlib import Path

import kerasbert

SOURCE = Path(kerasbert.__file__).read_text("utf-8")


def imported_for_type_checkers() -> set[str]:
    block = next(node for node in ast.parse(SOURCE).body if isinstance(node, ast.If))
    assert ast.unparse(block.test) == "TYPE_CHECKING"
    return {alias.name for statement in block.body for alias in statement.names}


def test_all_lists_agree():
    names = set(kerasbert.__all__) - {"__version__"}
    assert names | {"open"} == {*kerasbert._MODULE_OF, *kerasbert._PACKAGES} == imported_for_type_checkers()


def test_every_public_name_resolves():
    assert all(getattr(kerasbert, name) is not None for name in dir(kerasbert))
    assert callable(kerasbert.open)
