"""One form of errors, of docstrings and of signatures in the library, read from its sources."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SECTION = re.compile(r"\s*(Args|Returns|Raises|Yields|Attributes|Examples?|Notes?|References):\s*")


@cache
def trees() -> dict[str, ast.Module]:
    """Path in the repository -> parsed source, of every file of the library."""
    paths = [path for top in ("kerasbert", "export", "zoo") for path in sorted((ROOT / top).rglob("*.py"))]
    own = [path for path in paths if not any(folder.is_symlink() for folder in path.parents)]
    return {str(path.relative_to(ROOT)): ast.parse(path.read_text("utf-8")) for path in own}


def definitions(body: list[ast.stmt], owner: ast.ClassDef | None = None, public: bool = True) -> Iterator[tuple]:
    """(definition, its class or None, whether it is public) of classes, functions and methods; nested functions are nobody's."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield node, owner, public and not node.name.startswith("_")
            yield from definitions(node.body, node, public and not node.name.startswith("_"))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node, owner, public and not node.name.startswith("_")


def parameters(node: ast.FunctionDef) -> list[ast.arg]:
    every = node.args
    named = (*every.posonlyargs, *every.args, *every.kwonlyargs, *filter(None, (every.vararg, every.kwarg)))
    return [each for each in named if each.arg not in ("self", "cls")]


def literal(node: ast.expr) -> str | None:
    """The text of a string, with `{}` for what is formatted into it; None for anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return None


def wrong_errors(tree: ast.Module) -> Iterator[str]:
    """Messages of errors that are not `expected ..., received ...; what to do`."""
    for node in ast.walk(tree):
        name = getattr(getattr(node, "func", None), "id", "")
        if not isinstance(node, ast.Call) or not name.endswith("Error") or name[0] != "K" or not node.args:
            continue
        text = literal(node.args[0])
        if text is None or not re.search("[a-z]{4}", text):  # a message that was put together before
            continue
        if not re.search(r"\bexpected\b.*\breceived\b|\breceived\b.*\bexpected\b", text) or text.endswith("."):
            yield f"line {node.lineno}: {text}"


def wrong_docstrings(tree: ast.Module) -> Iterator[str]:
    """Docstrings with home-made sections, and public names without one."""
    for node, owner, public in definitions(tree.body):
        text = ast.get_docstring(node) or ""
        if "Raises KerasBertError" in text:
            yield f"line {node.lineno}: {node.name} tells what it raises outside of `Raises:`"
        if isinstance(node, ast.FunctionDef):
            names, in_section = {each.arg for each in parameters(node)}, False
            for line in text.splitlines():
                in_section = bool(SECTION.fullmatch(line)) or (in_section and (not line or line[0].isspace()))
                described = re.match(r"\s*((?:\w+, )*\w+): ", line)
                if not in_section and described and set(described[1].split(", ")) & names:
                    yield f"line {node.lineno}: {node.name} describes arguments outside of `Args:`"
        inherited = owner is not None and owner.bases
        if public and not text and not inherited and not node.name.startswith("__"):
            yield f"line {node.lineno}: {node.name} has no docstring"


def wrong_signatures(tree: ast.Module) -> Iterator[str]:
    """Public functions and methods with a parameter or a return without a type."""
    for node, _, public in definitions(tree.body):
        if not public or isinstance(node, ast.ClassDef):
            continue
        untyped = [each.arg for each in parameters(node) if each.annotation is None]
        untyped += ["return"] if node.returns is None else []
        if untyped and not node.name.startswith("__"):
            yield f"line {node.lineno}: {node.name} ({', '.join(untyped)})"


@pytest.mark.parametrize("check", [wrong_errors, wrong_docstrings, wrong_signatures])
def test_the_library_has_one_form(check):
    assert [f"{path}, {wrong}" for path, tree in trees().items() for wrong in check(tree)] == []


def test_each_check_finds_what_it_looks_for():
    tree = ast.parse(
        '''
def public(x, y: int) -> int:
    """Do it.

    x: a number. Raises KerasBertError for none.
    """
    raise KerasBertError("a number is needed.")


def bare(x: int) -> int:
    return x
'''
    )
    assert len(list(wrong_errors(tree))) == 1
    assert len(list(wrong_docstrings(tree))) == 3
    assert list(wrong_signatures(tree)) == ["line 2: public (x)"]
