"""The built site: every link works, and no page loads anything from another host."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LARGEST_PICTURE = 300_000  # bytes

pytestmark = pytest.mark.examples


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, done.stdout
    return folder


def test_nothing_is_loaded_from_another_host(site):
    pages = list(site.rglob("*.html"))
    assert len(pages) > 50
    loaded = re.compile(
        r"<(?:script|img|iframe|source)[^>]*\bsrc=\"?(?:https?:)?//|<link(?![^>]*canonical)[^>]*\bhref=\"?(?:https?:)?//"
    )
    found = {str(page.relative_to(site)): loaded.findall(page.read_text("utf-8")) for page in pages}
    assert {name: tags for name, tags in found.items() if tags} == {}
    styles = [path for path in site.rglob("*.css") if re.search(r"url\(['\"]?(?:https?:)?//", path.read_text("utf-8"))]
    assert styles == []


def test_search_works_without_a_server(site):
    assert (site / "search" / "search_index.js").stat().st_size > 100_000


def test_pictures_are_small():
    pictures = [path for path in (ROOT / "docs").rglob("*") if path.suffix in (".png", ".svg", ".jpg", ".webp")]
    assert len(pictures) >= 10
    assert [path.name for path in pictures if path.stat().st_size > LARGEST_PICTURE] == []
