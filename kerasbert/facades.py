"""Packages whose names are imported on first use (PEP 562). The stub file `__init__.pyi` lists them, also for type checkers."""

import importlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

_IMPORT = re.compile(r"^from (kerasbert[\w.]*) import (?:\(([^)]*)\)|(.+))$", re.MULTILINE)


def lazy_names(package: str, init_file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of a package.

    Args:
        package: The package's name, `__name__`.
        init_file: The path of its `__init__.py`, `__file__`. The stub beside it has lines `from MODULE import NAME as NAME`.
    """
    stub = Path(init_file).with_name("__init__.pyi").read_text("utf-8")
    modules = {
        name.strip().partition(" as ")[0]: module
        for module, several, single in _IMPORT.findall(stub)
        for name in (several or single).rstrip(", \n").split(",")
    }

    def get(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if modules[name] == package:
            return importlib.import_module(f"{package}.{name}")
        return getattr(importlib.import_module(modules[name]), name)

    return get, lambda: sorted(modules), sorted(modules)
