"""The imports between the modules of a checkout: lazy ones, those of types, and circles of modules and of folders."""

import ast
import re
from collections.abc import Mapping, Set
from pathlib import Path

# Packages that only re-export lazy names (`kerasbert.export.convert`): importing one imports no submodule.
FACADES = {"kerasbert", "kerasbert.compression", "kerasbert.data", "kerasbert.export", "kerasbert.training"}


def module_files(root: Path) -> dict[str, Path]:
    """Return the file of each module by its name.

    Args:
        root: A checkout of the repository.
    """
    found = {}
    for top in ("kerasbert", "export", "zoo"):
        for path in sorted((root / top).rglob("*.py")):
            if not any(folder.is_symlink() for folder in path.parents):
                name = ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
                found[name if top == "kerasbert" else f"kerasbert.{name}"] = path
    return found


def imported_modules(tree: ast.AST, modules: Set[str], types: bool = False) -> set[str]:
    """Return the modules that a parsed file imports: at its top, in functions, by `importlib`, and in tables of lazy names.

    Args:
        tree: The parsed file. Blocks under `TYPE_CHECKING` are emptied without `types`.
        modules: The modules of the checkout; others are left out.
        types: Whether imports under `TYPE_CHECKING` count.
    """
    imported = set()
    for node in ast.walk(tree):
        if not types and isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            node.body = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            imported |= {f"{node.module}.{name.name}" for name in node.names} | {node.module}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and _is_module_name(node.value):
            imported |= {node.value, f"{node.value}.__init__"}
    return {name for name in imported if name in modules}


def import_graph(root: Path, types: bool = False) -> dict[str, frozenset[str]]:
    """Return the modules that each module imports. A package is left out where one of its submodules is imported.

    Args:
        root: A checkout of the repository.
        types: Whether imports under `TYPE_CHECKING` count.
    """
    files, edges = module_files(root), {}
    for name, path in files.items():
        imports = imported_modules(ast.parse(path.read_text("utf-8")), files.keys(), types)
        specific = {module for module in imports if not any(other.startswith(f"{module}.") for other in imports)}
        edges[name] = frozenset(specific - FACADES - {name})
    return {name: imports if name not in FACADES else frozenset() for name, imports in edges.items()}


def folder_graph(root: Path) -> dict[str, frozenset[str]]:
    """Return the folders that each folder imports from. A module beside the packages of `kerasbert` counts as a folder.

    Args:
        root: A checkout of the repository.
    """
    files, edges = module_files(root), {}
    for name, imports in import_graph(root).items():
        folder = _folder(name, files)
        edges[folder] = edges.get(folder, frozenset()) | {_folder(other, files) for other in imports} - {folder}
    return edges


def import_cycles(edges: Mapping[str, Set[str]]) -> list[list[str]]:
    """Return groups of modules that import each other, by Tarjan's algorithm for strongly connected components.

    Args:
        edges: The modules that each module imports.
    """
    index, low, stack, cycles = {}, {}, [], []

    def visit(name: str) -> None:
        index[name] = low[name] = len(index)
        stack.append(name)
        for other in sorted(edges.get(name, ())):
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


def mutual_imports(edges: Mapping[str, Set[str]]) -> list[tuple[str, str]]:
    """Return the pairs of modules, or of folders, that import each other.

    Args:
        edges: The modules that each module imports.
    """
    return sorted((a, b) for a in edges for b in edges[a] if a < b and a in edges.get(b, ()))


def _folder(module: str, files: Mapping[str, Path]) -> str:
    is_package = files[module].name == "__init__.py"
    folder = module if is_package else module.rpartition(".")[0]
    return module if folder == "kerasbert" else folder


def _is_module_name(text: str) -> bool:
    return re.fullmatch(r"kerasbert(\.\w+)+", text) is not None
