"""The worked examples of docs/contribute, carried out exactly as they are written, in a copy of the library.

Blocks of a page, in the order in which they stand:

- ```python title="PATH"``` is a new file.
- ```diff title="PATH"``` changes a file that exists. Hunks are separated by `@@`; lines of context say where the change goes.
- ```sh``` and ```python``` are run.

A block after a line `<!-- not run: reason -->` is left out.
"""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from benchmarks.code import draw_packages

ROOT = Path(__file__).parents[2]
CONTRIBUTE = ROOT / "docs" / "contribute"
EXAMPLES = ("add-a-task", "add-an-architecture", "add-a-backend", "add-an-objective", "measure", "architecture")
LARGE = 100_000  # bytes; larger files are linked and not copied
_BLOCK = re.compile(
    r"^(?P<skipped><!-- not run: [^>]+ -->\n)?"
    r"```(?P<language>sh|python|diff)(?: title=\"(?P<path>[^\"]+)\")?\n(?P<code>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)


class Block(NamedTuple):
    """A block of code: its language, the file that it makes or changes, and its text."""

    language: str
    path: str | None
    code: str


def blocks(page: Path) -> list[Block]:
    found = [match for match in _BLOCK.finditer(page.read_text("utf-8")) if not match["skipped"]]
    return [Block(match["language"], match["path"], match["code"]) for match in found]


def apply_diff(text: str, diff: str) -> str:
    """The text after the hunks of a diff; each hunk's context and removed lines stand in it once."""
    for hunk in re.split(r"^@@.*\n", diff, flags=re.MULTILINE):
        lines = hunk.splitlines(keepends=True)
        before = "".join(line[1:] for line in lines if line[0] in " -")
        if before:
            assert text.count(before) == 1, f"expected once, found {text.count(before)} times:\n{before}"
            text = text.replace(before, "".join(line[1:] for line in lines if line[0] in " +"))
    return text


def _copy(source: str, target: str) -> None:
    if Path(source).stat().st_size > LARGE:
        os.symlink(source, target)
    else:
        shutil.copy2(source, target)


def make_copy(folder: Path) -> Path:
    """A copy of the library with the tests that a change needs; the environment is linked."""
    for name in ("kerasbert", "export", "zoo", "benchmarks"):
        shutil.copytree(ROOT / name, folder / name, symlinks=True, copy_function=_copy)
    tests = ROOT / "tests"
    for path in [*tests.glob("*.py"), tests / "export" / "conftest.py", tests / "benchmarks" / "test_run.py"]:
        target = folder / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, target)
    shutil.copy2(ROOT / "pyproject.toml", folder)
    for name in ("README.md", "CONTRIBUTING.md", "docs"):
        (folder / name).symlink_to(ROOT / name)
    (folder / ".venv").symlink_to(sys.prefix)
    return folder


def run(folder: Path, command: list[str]) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment |= {"PYTHONPATH": str(folder), "COLUMNS": "80", "KERASBERT_HOME": str(folder / "home")}
    done = subprocess.run(
        command, cwd=folder, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    assert done.returncode == 0, done.stdout[-6000:]


@pytest.mark.examples
@pytest.mark.parametrize("name", EXAMPLES)
def test_a_page_is_carried_out(name, tmp_path):
    page, folder, written = CONTRIBUTE / f"{name}.md", make_copy(tmp_path / "copy"), []
    assert (found := blocks(page))
    for block in found:
        path = folder / (block.path or "")
        if block.language == "diff":
            path.write_text(apply_diff(path.read_text("utf-8"), block.code), "utf-8")
        elif block.path:
            assert not path.exists(), f"{block.path} exists"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.code, "utf-8")
        elif block.language == "sh":
            run(folder, ["bash", "-e", "-c", block.code])
        else:
            run(folder, [sys.executable, "-c", block.code])
        written += [block.path] if block.path and block.path.endswith(".py") else []
    for command in (["check"], ["format", "--check"]) if written else ():
        run(folder, [sys.executable, "-m", "ruff", *command, *dict.fromkeys(written)])


@pytest.mark.parametrize(
    ("name", "files"),
    # a target with its backend; two architectures; an objective with a head and masks of its own
    [("add-a-backend", 3), ("add-an-architecture", 4), ("add-an-objective", 4)],
)
def test_an_extension_touches_few_files_of_the_library(name, files):
    paths = {block.path for block in blocks(CONTRIBUTE / f"{name}.md") if block.path}
    assert len({path for path in paths if not path.startswith("tests/")}) == files


def test_a_diff_is_applied():
    assert apply_diff("a\nb\nc\n", " a\n-b\n+d\n c\n@@\n c\n+e\n") == "a\nd\nc\ne\n"
    with pytest.raises(AssertionError, match="found 2 times"):
        apply_diff("a\na\n", " a\n+b\n")


@pytest.mark.long
def test_the_drawing_of_packages_is_that_of_the_imports():
    assert draw_packages.DRAWING.read_text("utf-8") == draw_packages.drawing()


@pytest.mark.long
def test_the_table_of_packages_has_every_import():
    spec = importlib.util.spec_from_file_location("import_graph", ROOT / "tests" / "test_import_graph.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    small = {"__main__", *module.MODULES}
    imports = {}
    for name, others in module.graph().items():
        if name.count("."):
            packages = {other.split(".")[1] for other in others if other.count(".")}
            imports.setdefault(name.split(".")[1], set()).update(packages)
    imports["export"].add("compression")  # through its lazy names, which the graph leaves out
    text = (CONTRIBUTE / "architecture.md").read_text("utf-8").partition("`layers` and `export` have packages")[0]
    table = dict(re.findall(r"^\| `(\w+)` \|[^|]*\|([^|]*)\|$", text, re.MULTILINE))
    assert set(table) == imports.keys() - small
    named = {name: set(re.findall(r"`(\w+)`", cell)) for name, cell in table.items()}
    assert named == {name: imports[name] - small - {name} for name in table}
