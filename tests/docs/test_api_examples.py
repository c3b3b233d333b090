"""The examples of the API reference, each run by itself after the lines of docs/api/index.md."""

import ast
import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import kerasbert as kb

API = Path(__file__).parents[2] / "docs" / "api"
DIRECTIVES = re.findall(
    r"^::: ([\w.]+)$", "\n".join(page.read_text("utf-8") for page in sorted(API.glob("*.md"))), re.MULTILINE
)
PAGES = sorted(page for page in API.glob("*.md") if page.stem != "index")

pytestmark = [
    pytest.mark.examples,
    pytest.mark.filterwarnings("default"),  # examples are a user's code
]

# What docs/api/index.md defines: name -> its value. Tasks are loaded anew for each example, since examples train them.
NAMES = {
    "kb": lambda: kb,
    "np": lambda: np,
    "texts": lambda: kb.data.read_table("train.tsv", max_rows=32).x,
    "labels": lambda: kb.data.read_table("train.tsv", max_rows=32).y,
    "task": lambda: kb.load_task("runs/mine"),
    "int8": lambda: kb.load_task("runs/mine-int8"),
    "encoder": lambda: kb.load_encoder("small-en"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder in which all examples run."""
    folder = tmp_path_factory.mktemp("api") / "data"
    if prepared := os.environ.get("KERASBERT_EXAMPLE_DATA"):  # a folder that example_data.py wrote
        shutil.copytree(prepared, folder)
    else:
        folder.mkdir()
        code = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); import example_data, pathlib; "
        subprocess.run([sys.executable, "-c", f"{code}example_data.write(pathlib.Path({str(folder)!r}))"], check=True)
    before = os.getcwd()
    os.chdir(folder)
    yield folder
    os.chdir(before)


def run(code: str, name: str) -> None:
    """Run code after the lines of the index page that it needs."""
    used = {node.id for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)}
    exec(compile(code, name, "exec"), {key: make() for key, make in NAMES.items() if key in used})


def example_of(name: str) -> str:
    """Return the code of the example of a documented name."""
    module, _, last = name.rpartition(".")
    value = __import__(module, fromlist=[last]) if module else None
    value = getattr(value, last)
    section = re.search(r"^ *Example:\n *```python\n(.*?)\n *```$", value.__doc__ or "", re.DOTALL | re.MULTILINE)
    assert section is not None, f"{name} has no example"
    return textwrap.dedent(section[1])


@pytest.mark.parametrize("name", DIRECTIVES)
def test_an_example_runs(name, folder):
    run(example_of(name), name)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_first_example_of_a_page_runs(page, folder):
    for code in re.findall(r"^```python\n(.*?)^```$", page.read_text("utf-8"), re.DOTALL | re.MULTILINE):
        run(code, page.name)


def test_the_index_page_runs(folder):
    for code in re.findall(r"^```python\n(.*?)^```$", (API / "index.md").read_text("utf-8"), re.DOTALL | re.MULTILINE):
        names: dict = {}
        exec(compile(code, "index.md", "exec"), names)
    assert set(NAMES) <= names.keys()
