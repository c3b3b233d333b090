"""The notebooks: their stored outputs, their prose, and whether they run in an empty folder."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from markdown.extensions.toc import slugify

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
LARGEST = 200_000  # bytes

# Absolute paths of Linux, macOS and Windows.
PATHS = re.compile(r"(?<![\w.:/])/(?:home|root|tmp|usr|opt|var|work|mnt|Users)/|\b[A-Z]:\\")

each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def load(name: str):
    """Import a file of this folder."""
    spec = importlib.util.spec_from_file_location(name, Path(__file__).parent / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def texts_of(output: dict) -> str:
    """The text of an output; images are left out."""
    data = output.get("data", {})
    return "\n".join([output.get("text", ""), *(str(data[kind]) for kind in data if not kind.startswith("image/"))])


def test_there_are_notebooks():
    assert {path.stem for path in NOTEBOOKS} == {"compression-study", "own-data", "semantic-search"}


@each_notebook
def test_the_form_is_valid_and_small(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert notebook.cells[0].cell_type == "markdown"
    assert notebook.cells[0].source.startswith("# ")
    assert path.stat().st_size < LARGEST


@each_notebook
def test_outputs_are_stored_and_clean(path):
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))  # one run from top to bottom
    outputs = [output for cell in cells for output in cell.outputs]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert {output.output_type for output in outputs} <= {"stream", "display_data", "execute_result"}
    assert {output.name for output in outputs if output.output_type == "stream"} == {"stdout"}
    written = "\n".join(map(texts_of, outputs))
    assert not re.search(r"warning|oneDNN|XNNPACK delegate for CPU", written, re.IGNORECASE)
    assert not PATHS.search("\n".join([written, *(cell.source for cell in cells)]))


@each_notebook
def test_every_plot_has_an_alternative_text(path):
    for cell in nbformat.read(path, as_version=4).cells:
        if any("image/png" in output.get("data", {}) for output in cell.get("outputs", ())):
            assert cell.metadata.get("alt")


@each_notebook
def test_prose_keeps_the_rules(path):
    prose = load("test_prose")
    text = "\n\n".join(cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "markdown")
    assert [sentence for sentence in prose.sentences(text) if len(sentence.split()) > prose.LONGEST] == []
    assert [word for word in prose.WORDS if re.search(rf"\b{word}\b", text, re.IGNORECASE)] == []


@each_notebook
def test_links_lead_to_pages_and_headings(path):
    cells = [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "markdown"]
    links = re.findall(r"\]\(([^)#\s]+)(?:#([^)\s]+))?\)", "\n".join(cells))
    assert links
    for target, anchor in links:
        page = (path.parent / target).resolve()
        assert page.is_file(), target
        headings = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE) if anchor else []
        assert not anchor or anchor in {slugify(heading, "-") for heading in headings}


@each_notebook
def test_the_site_has_a_page_for_it(path):
    assert f"- notebooks/{path.name}\n" in (ROOT / "mkdocs.yml").read_text("utf-8")


@pytest.mark.examples
@each_notebook
def test_it_runs_in_an_empty_folder(path, tmp_path):
    command = [sys.executable, str(Path(__file__).parent / "run_notebook.py"), str(path), str(tmp_path), "--check"]
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, done.stdout[-6000:]
