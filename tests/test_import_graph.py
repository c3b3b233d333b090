"""Imports point down, from room to room, and in no circle. Lazy ones count: inside functions, by `importlib`, by tables of lazy names."""

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
# From the bottom up: a module may import from its own line and from the lines above it.
LAYERS = (
    ("errors", "suggestions", "optional", "memory"),
    ("capture", "cleanup", "console", "files", "ids"),
    ("text", "data", "layers", "processors", "losses"),
    ("encoders",),
    ("checkpoints", "optimizers"),
    ("tasks",),
    ("training", "compression"),
    ("export",),
    ("zoo",),
    ("cli",),
)
# Packages that only pass lazy names on (`kerasbert.export.convert`): importing one imports nothing below it.
FACADES = {"kerasbert", "kerasbert.compression", "kerasbert.export", "kerasbert.training"}


def _sources() -> dict[str, Path]:
    found = {}
    for top in ("kerasbert", "export", "zoo"):
        for path in sorted((ROOT / top).rglob("*.py")):
            if not any(folder.is_symlink() for folder in path.parents):
                name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
                found[name if top == "kerasbert" else f"kerasbert.{name}"] = path
    return found


SOURCES = _sources()


def imported_modules(tree: ast.AST) -> set[str]:
    """Modules of ours that a parsed file imports, anywhere in it but for type checkers alone."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            node.body = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{name.name}" for name in node.names} | {node.module}
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and re.fullmatch(r"kerasbert(\.\w+)+", node.value)
        ):
            found |= {node.value, f"{node.value}.__init__"}
    return {name for name in found if name in SOURCES}


@cache
def graph() -> dict[str, frozenset[str]]:
    """Of each module the modules that it imports. A package counts for itself only where it is no parent of what is imported."""
    edges = {}
    for name, path in SOURCES.items():
        imports = imported_modules(ast.parse(path.read_text("utf-8")))
        specific = {each for each in imports if not any(other.startswith(f"{each}.") for other in imports)}
        edges[name] = frozenset(specific - FACADES - {name})
    return {name: imports if name not in FACADES else frozenset() for name, imports in edges.items()}


def _level(module: str) -> int:
    room = module.split(".")[1]
    return next(level for level, rooms in enumerate(LAYERS) if room in rooms)


def test_every_room_has_its_place():
    rooms = {module.split(".")[1] for module in SOURCES if module.count(".")}
    assert rooms == {room for rooms in LAYERS for room in rooms}


def test_no_import_points_up():
    upward = [
        f"{name} -> {other}"
        for name, imports in graph().items()
        for other in sorted(imports)
        if name not in FACADES and _level(other) > _level(name)
    ]
    assert upward == []


def circles(edges: dict[str, frozenset[str]]) -> list[list[str]]:
    """Groups of modules that import each other, by Tarjan's algorithm."""
    index, low, stack, found = {}, {}, [], []

    def visit(name: str) -> None:
        index[name] = low[name] = len(index)
        stack.append(name)
        for other in edges.get(name, ()):
            if other not in index:
                visit(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], index[other])
        if low[name] == index[name]:
            group = stack[stack.index(name) :]
            del stack[stack.index(name) :]
            if len(group) > 1:
                found.append(sorted(group))

    for name in edges:
        if name not in index:
            visit(name)
    return found


def test_there_is_no_circle():
    assert circles(graph()) == []


def test_circles_and_lazy_imports_are_seen():
    assert circles({"a": frozenset("b"), "b": frozenset("c"), "c": frozenset("b")}) == [["b", "c"]]
    lazy = 'def f():\n    from kerasbert.errors import KerasBertError\nHOMES = {"x": "kerasbert.files.atomic"}'
    assert {"kerasbert.errors", "kerasbert.files.atomic"} <= imported_modules(ast.parse(lazy))
