"""The files of the page, in a checkout and in the package."""

import glob
import subprocess
import tomllib
from pathlib import Path

import pytest

from kerasbert.errors import KerasBertError
from kerasbert.web.page_files import ROOT, page_files

CHECKOUT = Path(__file__).parents[2]


def test_tests_and_the_command_line_are_no_part(site_parts):
    assert list(page_files()) == ["app.js", "core/error.js", "icons/icon.png", "index.html"]


def test_without_a_page_the_package_is_incomplete(tmp_path):
    with pytest.raises(KerasBertError, match=r"received no index.html; install kerasbert again"):
        page_files(tmp_path)


def test_the_page_is_that_of_the_checkout():
    assert ROOT.resolve() == CHECKOUT / "web_demo"


def test_the_package_holds_every_file_of_the_page_and_no_other():
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))
    patterns = project["tool"]["setuptools"]["package-data"]["kerasbert"]
    package = CHECKOUT / "kerasbert"
    packed = {path for each in patterns for path in glob.glob(each, root_dir=package, recursive=True)}
    packed = {path for path in packed if (package / path).is_file() and path.startswith("web_demo/")}
    assert packed == {f"web_demo/{path}" for path in page_files()}


def test_every_file_of_the_page_is_in_the_repository():
    listed = subprocess.run(["git", "ls-files", "web_demo"], cwd=CHECKOUT, text=True, capture_output=True)
    if listed.returncode:
        pytest.skip("no git repository")
    assert {f"web_demo/{path}" for path in page_files()} - set(listed.stdout.splitlines()) == set()


def test_the_page_is_small():
    """Without models and LiteRT.js. What a browser loads of these is 9.7 MB of WebAssembly and glue, and the models that are used."""
    assert sum(path.stat().st_size for path in page_files().values()) < 1_000_000
