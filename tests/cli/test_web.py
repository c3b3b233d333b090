"""`kerasbert web`."""

import contextlib
import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from kerasbert.cli.process.claims import claims
from kerasbert.zoo.catalog import FILE, OWN_PACKAGE, models

FILES = Path(__file__).parents[2] / "android_demo" / "testdata" / "models"
LABEL, TAGS = FILES / "label.tflite", FILES / "tags.tflite"

pytestmark = pytest.mark.usefixtures("site_parts")


@pytest.fixture
def site(tmp_path):
    return tmp_path / "site"


def listed(site: Path) -> list[str]:
    return [model["name"] for model in json.loads((site / "models" / "index.json").read_text("utf-8"))["models"]]


def test_a_site_of_named_files(run, site):
    done = run("web", LABEL, "intents", "-o", site)
    assert (done.code, done.err) == (0, "")
    assert re.fullmatch(
        rf"wrote {re.escape(str(site))}: 2 models, 19 files, 4\.\d MB\nput it on any static host.*\n", done.out
    )
    assert listed(site) == ["label", "intents"]


def test_a_resizable_file_is_taken_with_a_note(run, site):
    done = run("web", FILES / "vector.tflite", LABEL, "-o", site)
    assert done.code == 0 and re.fullmatch(
        "vector: the page compiles a resizable model for each length; .*\n", done.err
    )
    assert json.loads(run("web", FILES / "vector.tflite", "-o", site, "--json").out)["models"][0]["task"] == "embedding"


def test_the_zoos_files_are_the_default(run, site):
    assert run("web", "-o", site).code == 0
    own = [model.name for model in models() if model.kind == FILE and model.package == OWN_PACKAGE]
    assert listed(site) == own


def test_json(run, site):
    data = json.loads(run("web", LABEL, "-o", site, "--json").out)
    assert data["out"] == str(site) and data["address"] is None and data["models"][0]["task"] == "single_label"
    assert data["version"] == json.loads((site / "files.json").read_text())["version"]
    files = [path for path in site.rglob("*") if path.is_file()]
    assert (data["files"], data["bytes"]) == (len(files), sum(path.stat().st_size for path in files))


def test_the_same_command_twice_writes_the_same_site(run, site):
    first = json.loads(run("web", LABEL, "-o", site, "--json").out)
    (site / "notes.txt").write_text("mine")
    assert json.loads(run("web", LABEL, "-o", site, "--json").out) == first
    assert (site / "notes.txt").read_text() == "mine"
    assert run("web", TAGS, "-o", site).code == 0 and listed(site) == ["tags"]
    assert not (site / "models" / "label.tflite").exists()


def test_a_model_of_the_site_itself_can_be_named(run, site):
    run("web", LABEL, TAGS, "-o", site)
    assert run("web", site / "models" / "tags.tflite", "-o", site).code == 0
    assert listed(site) == ["tags"] and (site / "models" / "tags.tflite").read_bytes() == TAGS.read_bytes()


def test_an_empty_folder_and_a_link_are_taken(run, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to("empty")
    assert run("web", LABEL, "-o", tmp_path / "link").code == 0
    assert (tmp_path / "link").is_symlink() and listed(tmp_path / "empty") == ["label"]


def refuse(run, expected, *arguments):
    done = run("web", *arguments)
    assert (done.code, done.out) == (2, "") and len(done.err.splitlines()) == 1
    assert re.search(expected, done.err), done.err


def test_a_folder_of_others_is_refused(run, tmp_path):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "thesis.txt").write_text("years of work")
    for out, expected in (
        (tmp_path / "thesis", "or a site of kerasbert's, received .*holds other files; name another"),
        (tmp_path / "thesis" / "thesis.txt", "received the file"),
        (tmp_path / "no" / "such" / "folder", "there is no .*make it first"),
    ):
        refuse(run, expected, LABEL, "-o", out)
    assert [path.name for path in (tmp_path / "thesis").iterdir()] == ["thesis.txt"]


def test_edits_and_files_in_the_way_are_not_lost(run, site):
    run("web", LABEL, "-o", site)
    (site / "models" / "tags.tflite").write_text("mine")
    refuse(run, "expected no file of others where the site needs models/tags.tflite", TAGS, "-o", site)
    (site / "style.css").write_text("mine")
    refuse(run, "as kerasbert wrote it, received one with a changed style.css; move that file away", LABEL, "-o", site)
    assert (site / "models" / "tags.tflite").read_text() == (site / "style.css").read_text() == "mine"
    (site / "style.css").unlink()
    assert run("web", LABEL, "-o", site).code == 0 and "mine" not in (site / "style.css").read_text()


@pytest.mark.parametrize(
    "model, expected",
    [
        ("mini-en", "received 'mini-en', which is a folder; convert the model in it"),
        ("intent", "which is neither; did you mean intents"),
        ("none.tflite", "none.tflite, which is not there"),
        (".", "received '.', which is a folder"),
        (__file__, "TFL3"),
    ],
)
def test_what_is_no_model_is_refused(run, site, model, expected):
    refuse(run, expected, LABEL, model, "-o", site)
    assert not site.exists()


def test_bad_options(run, site, tmp_path):
    refuse(run, "expected --port together with --open", LABEL, "-o", site, "--port", "8000")
    refuse(run, "--port", LABEL, "-o", site, "--open", "--port", "99999")
    refuse(run, "--out", LABEL)
    (tmp_path / "home" / "web" / ".complete").unlink()
    refuse(run, "make it with `kerasbert setup web`", LABEL, "-o", site)
    assert not site.exists()


def test_a_port_in_use_is_refused_before_anything_is_written(run, site):
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken:
        refuse(run, "expected a free --port", LABEL, "-o", site, "--open", "--port", taken.getsockname()[1])
    assert not site.exists()


PROBE = """
import sys
from pathlib import Path
from kerasbert.cli import main
from kerasbert.web import page_files
page_files.ROOT = Path(sys.argv.pop(1))
if len(sys.argv) == 2:
    import shutil
    shutil.copyfile = lambda source, target: (print("copying", file=sys.stderr, flush=True), __import__("time").sleep(60))
    sys.argv[1:] = sys.argv[1].split("\\n")
sys.exit(main())
"""


@pytest.fixture
def start(site_parts):
    """Start the command in a process of its own, which the test has to end."""
    running = []

    def start_command(*arguments):
        environment = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
        command = [sys.executable, "-c", PROBE, str(site_parts), *map(str, arguments)]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        before = signal.signal(signal.SIGINT, signal.SIG_DFL)  # which a shell's background job ignores
        try:
            running.append(subprocess.Popen(command, env=environment, **pipes))
        finally:
            signal.signal(signal.SIGINT, before)
        return running[-1]

    yield start_command
    for each in running:
        each.kill()
        each.communicate()


@pytest.mark.long
def test_open_serves_the_site_until_an_interrupt(start, site):
    process = start("web", LABEL, "-o", site, "--open", "--json")
    stopper = threading.Timer(60, process.kill)
    stopper.start()
    text = ""
    while not text.endswith("\n}\n"):
        line = process.stdout.readline()
        assert line, process.stderr.read()
        text += line
    address = json.loads(text)["address"]
    host, _, port = address.removeprefix("http://").rstrip("/").partition(":")
    with contextlib.closing(http.client.HTTPConnection(host, int(port), timeout=10)) as connection:
        connection.request("GET", "/models/index.json")
        assert host == "127.0.0.1" and connection.getresponse().read() == (site / "models" / "index.json").read_bytes()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    stopper.cancel()
    assert (process.returncode, out, err) == (130, "", "stopped\n")


def test_an_interrupt_leaves_nothing(start, site, tmp_path):
    process = start("\n".join(["web", str(LABEL), "-o", str(site)]))
    assert process.stderr.readline() == "copying\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (130, f"interrupted; nothing was written to {site}\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["home", "page"]


def test_a_killed_command_leaves_the_old_site_and_the_next_one_clears_up(run, start, site, tmp_path):
    run("web", LABEL, "-o", site)
    process = start("\n".join(["web", str(TAGS), "-o", str(site)]))
    assert process.stderr.readline() == "copying\n"
    process.kill()
    process.communicate(timeout=30)
    assert listed(site) == ["label"]
    assert run("web", TAGS, "-o", site).code == 0 and listed(site) == ["tags"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["home", "page", "site"]


def test_an_interrupt_after_the_end_says_that_the_site_is_written(run, site):
    with claims(site) as claimed:
        assert claimed.interruption_message() == f"interrupted; nothing was written to {site}"
        assert run("web", LABEL, "-o", site).code == 0
        assert claimed.interruption_message() == f"interrupted; already written: {site}"


def test_names_of_a_terminals_are_escaped(run, site, tmp_path):
    path = Path(shutil.copyfile(LABEL, tmp_path / "a\x1b[31m b.tflite"))
    done = run("web", path, "-o", site, "--json")
    assert done.code == 0 and "\x1b" not in done.out and listed(site) == ["a-31m-b"]
