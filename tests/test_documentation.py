"""Imports in the documentation's code blocks."""

import ast
import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def imported_names(page: Path) -> list[tuple[str, str]]:
    """(module, name) of each kerasbert import in the Python blocks of a page, and of each name used as `kb.name`."""
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    lines = [line.strip() for block in blocks for line in block.split("\n")]
    imports = [
        node
        for line in lines
        if re.match(r"from kerasbert[\w.]* import \w", line)
        for node in ast.parse(line.partition("#")[0]).body
    ]
    imported = [(node.module, alias.name) for node in imports for alias in node.names]
    return imported + [("kerasbert", name) for name in re.findall(r"\bkb\.(\w+)", "\n".join(lines))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_imports_of_a_page_resolve(page):
    missing = []
    for module, name in dict.fromkeys(imported_names(page)):
        try:
            getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError):
            try:
                importlib.import_module(f"{module}.{name}")
            except ImportError:
                missing.append(f"{module}.{name}")
    assert missing == []


def test_pages_have_imports():
    assert sum(len(imported_names(page)) for page in PAGES) > 30
