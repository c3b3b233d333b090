"""The commands and the code of the README, Get started and Guides, run as they are written, on small data."""

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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}-{page.stem}")
def test_a_page_runs(page, data, tmp_path):
    folder = tmp_path / "work"
    shutil.copytree(data, folder)
    command = [sys.executable, str(Path(__file__).parent / "run_page.py"), str(page), str(folder)]
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, done.stdout[-6000:]
