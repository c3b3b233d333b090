"""Imports point down the layers and form no cycles. Lazy ones count too: in functions, by `importlib`, and in tables of lazy names."""

import ast
from functools import cache
from pathlib import Path

from benchmarks.code import import_graph
from benchmarks.code.import_graph import FACADES, import_cycles, imported_modules

ROOT = Path(__file__).parents[1]
# From the bottom up: a module may import from its own layer and from the layers above it in this list.
LAYERS = (
    ("errors", "arguments", "suggestions", "values", "optional", "memory", "model_names", "children", "facades"),
    ("capture", "console", "files", "ids", "sharing"),
    ("text", "layers"),
    ("data",),
    ("processors",),
    ("losses",),
    ("encoders",),
    ("heads",),
    ("checkpoints", "optimizers"),
    ("tasks",),
    ("training", "compression"),
    ("export",),
    ("zoo", "web"),
    ("cli", "__main__"),
)
SOURCES = import_graph.module_files(ROOT)


@cache
def graph() -> dict[str, frozenset[str]]:
    return import_graph.import_graph(ROOT)


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


def test_no_import_cycles():
    assert import_cycles(graph()) == []


def test_cycles_and_lazy_imports_are_detected():
    assert import_cycles({"a": frozenset("b"), "b": frozenset("c"), "c": frozenset("b")}) == [["b", "c"]]
    lazy = 'def f():\n    from kerasbert.errors import KerasBertError\nHOMES = {"x": "kerasbert.files.atomic"}'
    assert {"kerasbert.errors", "kerasbert.files.atomic"} <= imported_modules(ast.parse(lazy), SOURCES.keys())
