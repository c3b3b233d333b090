"""A built site in Chromium, from the server of `kerasbert web --open` with its headers. `web_demo/tests/browser` tests the page itself."""

import json
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
TEXT = "the film was good"


@pytest.mark.environment
def test_the_page_runs_a_model_online_and_offline(tmp_path):
    if reason := web._missing_program() or ("" if web.WEB.ready else web.WEB.missing):
        pytest.skip(reason)
    write_site(tmp_path / "site", site_files(read_models([LABEL])))
    with SiteServer(tmp_path / "site") as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        settings = {
            "modules": str(web.WEB.folder),
            "chromium": web.find_browser(),
            "address": server.address,
            "text": TEXT,
        }
        command = ["node", str(Path(__file__).with_name("open_page.mjs")), json.dumps(settings)]
        try:
            done = subprocess.run(command, text=True, capture_output=True, timeout=300)
        finally:
            server.shutdown()
            thread.join()
    assert done.returncode == 0, done.stderr
    page = json.loads(done.stdout)
    assert page["problems"] == [] and page["isIsolated"]
    assert page["online"] == page["offline"] and page["online"].split()[0] == kb.open(LABEL)(TEXT)["label"]
