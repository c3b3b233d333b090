"""Quick start: no heavy import before it is needed."""

import json
import os
import subprocess
import sys
import time

HEAVY = ("tensorflow", "tf_keras", "numpy", "tokenizers", "ai_edge_litert", "safetensors")
COMMANDS = (
    "quickstart train quantize prune distill diagnose evaluate predict convert inspect validate benchmark web".split()
)
PROBE = f"""
import json, sys
from kerasbert.cli import main
code = main(sys.argv[1:])
print()
print(json.dumps([code, sorted(set(sys.modules) & set({HEAVY}))]))
"""


def probe(*arguments):
    done = subprocess.run(
        [sys.executable, "-c", PROBE, *map(str, arguments)], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout.splitlines()[-1]), done


def cpu_seconds(call):
    """What `call` gives and the processor time of its child process: other processes may use this machine."""
    before, started = os.times(), time.perf_counter()
    given = call()
    after = os.times()
    busy = after.children_user + after.children_system - before.children_user - before.children_system
    return given, min(busy, time.perf_counter() - started)


def test_help_is_quick_and_light(monkeypatch, tmp_path):
    """Half a second, or on a slow processor four times the import of typer, with byte code as an installation has."""
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", str(tmp_path))
    probe("--help")  # writes the byte code
    seconds, unit = [], []
    for _ in range(3):
        ((code, heavy), done), spent = cpu_seconds(lambda: probe("--help"))
        seconds.append(spent)
        unit.append(cpu_seconds(lambda: subprocess.run([sys.executable, "-c", "import typer"], check=True))[1])
    assert (code, heavy) == (0, [])
    assert min(seconds) <= max(0.5, 4 * min(unit))
    listed = done.stdout
    for command in COMMANDS:
        assert f" {command} " in listed
    assert " zoo " in listed


def test_every_command_has_help_with_an_example(run):
    for command in COMMANDS:
        done = run(command, "--help")
        assert done.code == 0
        assert f"Example: kerasbert {command} " in done.out
        assert "--json" in done.out and "--debug" in done.out


def test_a_command_imports_no_other_command():
    code = "import sys; from kerasbert.cli import main; main(['inspect', '--help']); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.rpartition(".")[2] for name in done.stdout.splitlines()[-1].split() if "kerasbert.cli." in name}
    assert loaded & {*COMMANDS, "setup", "zoo"} == {"inspect"}


def test_a_file_predicts_without_tensorflow(made):
    (code, heavy), done = probe("predict", made.file, "a good film", "so bad")
    assert code == 0
    assert not {"tensorflow", "tf_keras"} & set(heavy)
    assert [line.split("\t")[0] for line in done.stdout.splitlines()[:2]] == ["pos", "neg"]
    assert done.stderr == ""


def test_tensorflow_does_not_import_keras_3(run, monkeypatch, tmp_path):
    """Keras 3 also imports scikit-learn and SciPy, a quarter of the start time."""
    monkeypatch.setenv("TF_USE_LEGACY_KERAS", "")  # restored afterwards
    monkeypatch.delenv("TF_USE_LEGACY_KERAS")
    run("inspect", tmp_path / "none.tflite")
    assert os.environ["TF_USE_LEGACY_KERAS"] == "1"
    monkeypatch.setenv("TF_USE_LEGACY_KERAS", "0")  # set by the user
    run("inspect", tmp_path / "none.tflite")
    assert os.environ["TF_USE_LEGACY_KERAS"] == "0"


def test_commands_with_a_keras_model_keep_memory(run, made, monkeypatch):
    calls = []
    monkeypatch.setattr("kerasbert.cli.process.progress.keep_memory", lambda: calls.append(True))
    assert run("predict", made.float, "a good film").code == 0
    assert calls == [True]
