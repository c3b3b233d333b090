"""A built site in Chromium, from the server of `kerasbert web --open` with its headers. `web_demo/tests/browser` tests the page itself."""

import json
import re
import shutil
import subprocess
import threading
from pathlib import Path

import pytest

import kerasbert as kb
from kerasbert.export.backends import web
from kerasbert.web.models import read_models
from kerasbert.web.server import SiteServer
from kerasbert.web.site import site_files, write_site

LABEL = Path(__file__).parents[2] / "android_demo" / "testdata" / "models" / "label.tflite"
GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "web.md"
TEXT = "the film was good"


pytestmark = pytest.mark.environment


@pytest.fixture
def site(tmp_path):
    if reason := web.missing_part():
        pytest.skip(reason)
    return write_site(tmp_path / "site", site_files(read_models([LABEL]))).folder


def opened(folder: Path, path: str = "", **settings: str) -> dict:
    """What a page of the folder shows in Chromium; see open_page.mjs."""
    program = str(Path(__file__).with_name("open_page.mjs"))
    browser = {"modules": str(web.WEB.folder), "chromium": web.find_browser(), "path": path, **settings}
    with SiteServer(folder) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            command = ["node", program, json.dumps({**browser, "site": server.address})]
            done = subprocess.run(command, text=True, capture_output=True, timeout=300)
        finally:
            server.shutdown()
            thread.join()
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_page_runs_a_model_online_and_offline(site):
    page = opened(site, text=TEXT)
    assert page["problems"] == [] and page["isIsolated"]
    assert page["online"] == page["offline"] and page["online"].split()[0] == kb.open(LABEL)(TEXT)["label"]


def test_the_page_of_the_guide_runs(site):
    """Files of the user's own beside those of the site, as the guide has them."""
    blocks = re.findall(r'^```\w+ title="(film\.\w+)"\n(.*?)^```$', GUIDE.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    assert [name for name, _ in blocks] == ["film.html", "film.js"]
    for name, code in blocks:
        (site / name).write_text(code, "utf-8")
    shutil.copyfile(LABEL, site / "film.tflite")
    page = opened(site, "film.html", answer="#answer")
    prediction = kb.open(LABEL)("a lovely film")
    assert page["problems"] == [] and page["answer"] == f"{prediction['label']} {prediction['score']:.2f}"
