"""Imports point down the layers and form no cycles. Lazy ones count too: in functions, by `importlib`, and in tables of lazy names."""

import ast
from functools import cache
from pathlib import Path

from benchmarks.code import import_graph
from benchmarks.code.import_graph import FACADES, import_cycles, imported_modules

ROOT = Path(__file__).parents[1]
# Small modules, then packages, from the bottom up: each may import from those before it in this list.
MODULES = (
    "errors", "suggestions", "model_names", "memory", "facades", "children", "ids", "capture", "optional", "sharing", "values",
    "masking_units", "arguments",
)  # fmt: skip
PACKAGES = (
    "console", "files", "layers", "encoders", "optimizers", "text", "data", "heads", "processors", "checkpoints", "losses", "tasks",
    "training", "compression", "export", "retrieval", "few_shot", "plots", "web", "zoo", "selection", "cli",
)  # fmt: skip
ROOMS = (*MODULES, *PACKAGES, "__main__")
SOURCES = import_graph.module_files(ROOT)


@cache
def graph() -> dict[str, frozenset[str]]:
    return import_graph.import_graph(ROOT)


def _level(module: str) -> int:
    return ROOMS.index(module.split(".")[1])


def test_every_package_has_a_level_of_its_own():
    rooms = {module.split(".")[1] for module in SOURCES if module.count(".")}
    assert len(rooms) == len(ROOMS) and rooms == set(ROOMS)


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


def test_no_import_cycles_with_imports_for_types():
    assert import_cycles(import_graph.import_graph(ROOT, types=True)) == []


def test_no_folders_import_each_other():
    assert import_cycles(import_graph.folder_graph(ROOT)) == []


def test_cycles_and_lazy_imports_are_detected():
    assert import_cycles({"a": frozenset("b"), "b": frozenset("c"), "c": frozenset("b")}) == [["b", "c"]]
    lazy = 'def f():\n    from kerasbert.errors import KerasBertError\nHOMES = {"x": "kerasbert.files.atomic"}'
    assert {"kerasbert.errors", "kerasbert.files.atomic"} <= imported_modules(ast.parse(lazy), SOURCES.keys())
