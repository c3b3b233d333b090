"""The programs of both demos: the Kotlin core on the JVM, and the JavaScript core on Node and in headless Chromium.

Each of them takes a command, a model and the lines of the standard input, as `android_demo/run`. In Chromium the modules of a site of
`kerasbert web` run in a worker of it.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.common.record import ROOT
from kerasbert.export.backends.environments.known import WEB
from kerasbert.export.backends.web import find_browser

_COMMANDS = {
    "jvm": (str(ROOT / "android_demo" / "run"),),
    "node": ("node", str(ROOT / "web_demo" / "run.mjs")),
}
_ACCELERATORS = {"chromium": "wasm", "chromium-webgpu": "webgpu"}  # of each client that is a browser
_SITE_PROGRAM = Path(__file__).parent / "site" / "run.mjs"
COMMAND_LINES = tuple(_COMMANDS)
CLIENTS = (*COMMAND_LINES, *_ACCELERATORS)


def add_client(parser: argparse.ArgumentParser) -> None:
    """Add the option `--client` to a parser."""
    parser.add_argument("--client", choices=CLIENTS, default="jvm", help="the program that is compared (jvm)")


def run(client: str, command: str, model: Path, *arguments: object, lines: Sequence[str] = ()) -> tuple[list[Any], str]:
    """Run a command of a client and parse its output, one JSON value a line.

    Args:
        client: One of `CLIENTS`.
        command: `predict`, `search` or `inspect`; the last one needs no browser.
        model: The file.
        arguments: What follows the model.
        lines: The lines of the standard input.

    Returns:
        The values, and the standard error.

    Raises:
        SystemExit: When the command fails.
    """
    if client in _COMMANDS:
        return _run([*_COMMANDS[client], command, str(model), *map(str, arguments)], lines)
    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder) / "site"
        _run([sys.executable, "-m", "kerasbert", "web", str(model), "--out", str(site)], (), parse=False)
        return _run([*_site_command(site, _ACCELERATORS[client]), command, *map(str, arguments)], lines)


def runtime_of(client: str, notes: str) -> str:
    """Return what ran the models, of the notes that a client wrote for people."""
    if client == "jvm":
        return "LiteRT's C library"
    if client == "node":
        return f"LiteRT.js with WebAssembly, Node {_output(['node', '--version'])}"
    return next(line.removeprefix("note: ") for line in notes.splitlines() if "Chromium" in line)


def command_of(client: str) -> list[str]:
    """Return the words that start a client that is a command line."""
    return list(_COMMANDS[client])


def _site_command(site: Path, accelerator: str) -> list[str]:
    (model,) = json.loads((site / "models" / "index.json").read_text("utf-8"))["models"]
    settings = {
        "modules": str(WEB.folder),
        "chromium": find_browser(),
        "site": str(site),
        "model": model["file"],
        "accelerator": accelerator,
    }
    return ["node", str(_SITE_PROGRAM), json.dumps(settings)]


def _output(words: Sequence[str]) -> str:
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()


def _run(words: Sequence[str], lines: Sequence[str], parse: bool = True) -> tuple[list[Any], str]:
    text = "".join(f"{line}\n" for line in lines)
    process = subprocess.run(words, input=text.encode("utf-8"), capture_output=True, check=False, cwd=ROOT)
    errors = process.stderr.decode("utf-8", "replace")
    if process.returncode:
        raise SystemExit(f"expected exit code 0, received {process.returncode} of {' '.join(words)}: {errors}")
    output = process.stdout.decode("utf-8").split("\n")
    return [json.loads(line) for line in output if line] if parse else [], errors
