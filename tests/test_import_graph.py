"""Imports point down the layers and form no cycles. Lazy ones count too: in functions, by `importlib`, and in tables of lazy names."""

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
# From the bottom up: a module may import from its own layer and from the layers above it in this list.
LAYERS = (
    ("errors", "arguments", "suggestions", "optional", "memory", "model_names", "children", "facades"),
    ("capture", "cleanup", "console", "files", "ids", "sharing"),
    ("text", "data", "layers", "processors", "losses"),
    ("encoders",),
    ("checkpoints", "optimizers"),
    ("tasks",),
    ("training", "compression"),
    ("export",),
    ("zoo", "web"),
    ("cli", "__main__"),
)
# Packages that only re-export lazy names (`kerasbert.export.convert`): importing one imports no submodule.
FACADES = {"kerasbert", "kerasbert.compression", "kerasbert.export", "kerasbert.training"}


def _sources() -> dict[str, Path]:
    sources = {}
    for top in ("kerasbert", "export", "zoo"):
        for path in sorted((ROOT / top).rglob("*.py")):
            if not any(folder.is_symlink() for folder in path.parents):
                name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
                sources[name if top == "kerasbert" else f"kerasbert.{name}"] = path
    return sources


SOURCES = _sources()


def imported_modules(tree: ast.AST) -> set[str]:
    """Modules of kerasbert that a parsed file imports anywhere except under `TYPE_CHECKING`."""
    modules = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            node.body = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            modules |= {f"{node.module}.{name.name}" for name in node.names} | {node.module}
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and re.fullmatch(r"kerasbert(\.\w+)+", node.value)
        ):
            modules |= {node.value, f"{node.value}.__init__"}
    return {name for name in modules if name in SOURCES}


@cache
def graph() -> dict[str, frozenset[str]]:
    """Module -> the modules that it imports. A package is left out where one of its submodules is imported."""
    edges = {}
    for name, path in SOURCES.items():
        imports = imported_modules(ast.parse(path.read_text("utf-8")))
        specific = {module for module in imports if not any(other.startswith(f"{module}.") for other in imports)}
        edges[name] = frozenset(specific - FACADES - {name})
    return {name: imports if name not in FACADES else frozenset() for name, imports in edges.items()}


def _level(module: str) -> int:
    room = module.split(".")[1]
    return next(level for level, rooms in enumerate(LAYERS) if room in rooms)


def test_every_package_has_a_layer():
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


def import_cycles(edges: dict[str, frozenset[str]]) -> list[list[str]]:
    """Groups of modules that import each other, by Tarjan's algorithm for strongly connected components."""
    index, low, stack, cycles = {}, {}, [], []

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
                cycles.append(sorted(group))

    for name in edges:
        if name not in index:
            visit(name)
    return cycles


def test_no_import_cycles():
    assert import_cycles(graph()) == []


def test_cycles_and_lazy_imports_are_detected():
    assert import_cycles({"a": frozenset("b"), "b": frozenset("c"), "c": frozenset("b")}) == [["b", "c"]]
    lazy = 'def f():\n    from kerasbert.errors import KerasBertError\nHOMES = {"x": "kerasbert.files.atomic"}'
    assert {"kerasbert.errors", "kerasbert.files.atomic"} <= imported_modules(ast.parse(lazy))
