"""The commands and the code of the README, Get started and Guides, run as they are written, on small data."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    *sorted(p for section in ("get-started", "guides") for p in (ROOT / "docs" / section).glob("*.md")),
]

pytestmark = pytest.mark.examples


@pytest.fixture(scope="session")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("examples") / "data"
    folder.mkdir()
    code = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); import example_data, pathlib; "
    subprocess.run([sys.executable, "-c", f"{code}example_data.write(pathlib.Path({str(folder)!r}))"], check=True)
    return folder


@pytest.fixture(scope="session")
def programs(tmp_path_factory):
    """The folder with a program `kerasbert` that does not import TensorFlow anew."""
    folder = tmp_path_factory.mktemp("programs")
    command = [sys.executable, str(Path(__file__).parent / "command_server.py"), str(folder)]
    environment = {**os.environ, "TF_NUM_INTRAOP_THREADS": "1"}  # as many pages as cores run at a time
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment) as server:
        assert server.stdout.readline() == "ready\n"
        yield folder
        server.stdin.close()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}-{page.stem}")
def test_a_page_runs(page, data, programs, tmp_path):
    folder = tmp_path / "work"
    shutil.copytree(data, folder)
    script = str(Path(__file__).parent / "run_page.py")
    command = [str(programs / "kerasbert"), "--script", script, str(page), str(folder)]
    environment = {**os.environ, "KERASBERT_PROGRAMS": str(programs)}
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment)
    assert done.returncode == 0, done.stdout[-6000:]
