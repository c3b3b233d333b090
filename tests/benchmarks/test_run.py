"""Every script under benchmarks/ is listed in run.py, its command line parses, and its imports resolve."""

import ast
import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.run import HELPERS, INPUTS, MEASUREMENTS

ROOT = Path(__file__).parents[2]
BENCHMARKS = ROOT / "benchmarks"
SCRIPTS = {
    ".".join(path.relative_to(BENCHMARKS).with_suffix("").parts): path
    for path in sorted(BENCHMARKS.rglob("*.py"))
    if '__name__ == "__main__"' in path.read_text("utf-8")
}
MODULES = sorted(path for path in BENCHMARKS.rglob("*.py") if path.name != "__init__.py")
# These import PyTorch at the top, which lives in the peers' environment.
PYTORCH = (
    "training.finetuning_pytorch", "training.training_pytorch", "training.pretraining_pytorch", "training.pretraining_losses_peer",
    "parity.published_forms_writer",
)  # fmt: skip
# Runs `--help` of every script in one process, in which TensorFlow cannot be imported, and prints the outputs by module.
PRINT_HELP = """
import contextlib, importlib, io, json, sys
sys.modules["tensorflow"] = sys.modules["tf_keras"] = None
outputs = {}
for name in json.loads(sys.argv[1]):
    module = importlib.import_module(f"benchmarks.{name}")
    sys.argv[1:] = ["--help"]
    with contextlib.redirect_stdout(io.StringIO()) as output:
        try:
            module.main()
        except SystemExit as end:
            outputs[name] = output.getvalue() if end.code == 0 else f"exit code {end.code}"
print(json.dumps(outputs))
"""


def test_every_script_is_a_measurement_or_a_helper():
    measurements = {measurement.module for measurement in MEASUREMENTS}
    assert measurements.isdisjoint(HELPERS)
    assert measurements | set(HELPERS) == set(SCRIPTS)


def test_results_have_distinct_names():
    names = [measurement.name for measurement in MEASUREMENTS]
    assert len(names) == len(set(names))


@pytest.fixture(scope="module")
def help_texts():
    names = [name for name in SCRIPTS if name not in PYTORCH]
    command = [sys.executable, "-c", PRINT_HELP, json.dumps(names)]
    process = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=60, check=False)
    assert process.returncode == 0, process.stderr
    texts = json.loads(process.stdout)
    assert set(texts) == set(names)
    return texts


def test_help_needs_no_tensorflow_and_names_the_module(help_texts):
    for name, text in help_texts.items():
        assert text.startswith("usage: "), f"{name}: {text}"
        if name not in HELPERS or name == "run":
            assert f"python -m benchmarks.{name}" in text


@pytest.mark.parametrize("measurement", MEASUREMENTS, ids=lambda measurement: measurement.name)
def test_command_has_only_options_of_the_script(measurement, help_texts):
    inputs = {name: f"/{name}" for name in INPUTS}
    command = measurement.command(inputs, Path("results"))
    assert command[0] == ("/peer_python" if measurement.on_peer else sys.executable)
    assert command[1:3] == ["-m", f"benchmarks.{measurement.module}"]
    assert command[-2:] == ["--json", f"results/{measurement.name}.json"]
    options = set(re.findall(r"--[a-z][a-z-]*", help_texts[measurement.module]))
    assert {word for word in command if word.startswith("--")} <= options
    assert not any("{" in word for word in command)


def test_every_input_is_used():
    groups = [group for each in MEASUREMENTS for group in (each.arguments, *each.optional)]
    assert set(re.findall(r"{(\w+)}", " ".join(groups))) | {"peer_python"} == set(INPUTS)


def test_optional_arguments_need_their_inputs():
    (measurement,) = [each for each in MEASUREMENTS if each.name == "protection"]
    inputs = dict.fromkeys(INPUTS) | {"tflite": "a.tflite"}
    assert measurement.inputs == ("tflite",)
    assert measurement.command(inputs, Path("r"))[3:] == ["a.tflite", "--json", "r/protection.json"]
    assert "b.tflite" in measurement.command(inputs | {"tflite_b": "b.tflite"}, Path("r"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: "/".join(path.parts[-2:]))
@pytest.mark.long_cases
def test_imports_of_our_modules_resolve(path):
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if not isinstance(node, ast.ImportFrom):
            continue
        parent = node.module
        if parent is None or parent.partition(".")[0] not in ("benchmarks", "kerasbert"):
            continue
        defined = _defined_names(parent)
        for alias in node.names:
            name = f"{parent}.{alias.name}"
            assert alias.name in defined or importlib.util.find_spec(name) is not None, name


def _defined_names(module: str) -> set[str]:
    """Names that a module defines or imports, or names as strings for lazy lookup; read from its source."""
    spec = importlib.util.find_spec(module)
    assert spec is not None and spec.origin is not None, module
    stub = Path(spec.origin).with_suffix(".pyi")  # of a package whose names are imported on first use
    tree = ast.parse((stub if stub.is_file() else Path(spec.origin)).read_text("utf-8"))
    names = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    names |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    names |= {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    return names | {
        node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def test_every_page_names_files_that_exist():
    pages = [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        BENCHMARKS / "README.md",
        *sorted((ROOT / "docs").rglob("*.md")),
    ]
    text = "\n".join(page.read_text("utf-8") for page in pages)
    # A page that shows how to add a script names one that is not here.
    added = set(re.findall(r'title="benchmarks/([\w/]+)\.py"', text))
    paths = set(re.findall(r"(?<!tests/)benchmarks/[\w./-]*\w", text)) - {f"benchmarks/{name}.py" for name in added}
    assert len(paths) > 5
    assert [path for path in sorted(paths) if not (ROOT / path).exists()] == []
    modules = set(re.findall(r"python -m benchmarks\.([\w.]*\w)", text))
    assert modules - {name.replace("/", ".") for name in added} <= set(SCRIPTS)


def test_readme_lists_every_measurement():
    text = (BENCHMARKS / "README.md").read_text("utf-8")
    missing = [each.module for each in MEASUREMENTS if f"| `{each.module.rpartition('.')[2]}` |" not in text]
    assert missing == []
