"""A site: its files, their list, and what happens to a folder that is written again."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from kerasbert.data import assistant
from kerasbert.errors import KerasBertError
from kerasbert.export.reporting.html_page import STYLE_FILE
from kerasbert.files.own_files import SITE, is_own
from kerasbert.web.models import read_models
from kerasbert.web.site import check_litert, site_files, write_site

FILES = Path(__file__).parents[2] / "android_demo" / "testdata" / "models"


@pytest.fixture
def files(site_parts):
    return site_files(read_models([FILES / "label.tflite", FILES / "tags.tflite"]))


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_site_holds_the_page_the_style_the_runtime_and_the_models(files, tmp_path):
    write_site(tmp_path / "site", files)
    assert sorted(contents(tmp_path / "site")) == [
        "app.js", "core/error.js", "files.json", "icons/icon.png", "index.html", "litert/LICENSE.txt", "litert/litert.js",
        "litert/litert_wasm_compat_internal.js", "litert/litert_wasm_compat_internal.wasm", "litert/litert_wasm_internal.js",
        "litert/litert_wasm_internal.wasm", "litert/litert_wasm_jspi_internal.js", "litert/litert_wasm_jspi_internal.wasm",
        "litert/wasm-utils.js", "models/index.json", "models/label.tflite", "models/tags.tflite", "samples.json", "style.css",
    ]  # fmt: skip
    assert (tmp_path / "site" / "style.css").read_text("utf-8") == STYLE_FILE.read_text("utf-8")
    assert (tmp_path / "site" / "models" / "label.tflite").read_bytes() == (FILES / "label.tflite").read_bytes()


def test_the_list_of_files_has_size_and_hash_of_each(files, tmp_path):
    site = write_site(tmp_path / "site", files)
    found = contents(tmp_path / "site")
    assert site.sizes == {path: len(content) for path, content in found.items()}
    listed = json.loads(found.pop("files.json"))
    assert is_own(tmp_path / "site" / "files.json", SITE) and listed["version"] == site.version
    assert listed["files"] == {
        path: {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()} for path, content in found.items()
    }


def test_the_samples_are_the_bundled_texts_each_once(files, tmp_path):
    write_site(tmp_path / "site", files)
    phrases = json.loads(contents(tmp_path / "site")["samples.json"])["phrases"]
    texts = [text for split in assistant.SPLITS for text in assistant.load(split).texts]
    assert phrases[0] == texts[0] and set(phrases) == set(texts) and len(phrases) == len(set(phrases)) > 1000


def test_the_list_of_models_has_hash_and_task_of_each(files, tmp_path):
    write_site(tmp_path / "site", files)
    found = contents(tmp_path / "site")
    models = json.loads(found["models/index.json"])["models"]
    assert [(model["name"], model["task"]) for model in models] == [("label", "single_label"), ("tags", "tagging")]
    for model in models:
        assert model["sha256"] == hashlib.sha256(found[model["file"]]).hexdigest()


def test_the_version_changes_with_every_file_and_only_then(files, tmp_path):
    first = write_site(tmp_path / "first", files).version
    assert write_site(tmp_path / "second", dict(reversed(files.items()))).version == first
    assert write_site(tmp_path / "third", {**files, "app.js": b"changed"}).version != first
    renamed = {("apple.js" if path == "app.js" else path): source for path, source in files.items()}
    assert write_site(tmp_path / "fourth", renamed).version != first


def test_a_new_site_takes_the_place_of_the_old_one_and_keeps_files_of_others(files, tmp_path):
    folder = tmp_path / "site"
    write_site(folder, files)
    (folder / "notes.txt").write_text("mine")
    (folder / "core" / "mine.js").write_text("mine")
    (folder / ".git").mkdir()
    (folder / ".git" / "HEAD").write_text("mine")
    del files["models/tags.tflite"], files["icons/icon.png"]
    write_site(folder, files)
    found = contents(folder)
    assert found["notes.txt"] == found["core/mine.js"] == found[".git/HEAD"] == b"mine"
    assert "models/tags.tflite" not in found and not (folder / "icons").exists()
    assert json.loads(found["files.json"])["files"].keys() == files.keys()
    assert [path.name for path in tmp_path.iterdir() if "kerasbert" in path.name] == []


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_an_interrupted_write_changes_nothing(files, tmp_path, monkeypatch, error):
    folder = tmp_path / "site"
    write_site(folder, files)
    before = contents(folder)
    copied = []

    def copy(source, target):
        copied.append(target)
        Path(target).write_bytes(b"half")
        if len(copied) == 3:
            raise error

    monkeypatch.setattr("kerasbert.web.site.shutil.copyfile", copy)
    for name in ("site", "new"):
        copied.clear()
        with pytest.raises(error):
            write_site(tmp_path / name, {**files, "app.js": b"changed"})
    assert contents(folder) == before and not (tmp_path / "new").exists()
    assert [path.name for path in tmp_path.iterdir() if "kerasbert" in path.name] == []


def test_without_litert_the_command_that_installs_it_is_named(site_parts, tmp_path):
    check_litert()
    (tmp_path / "home" / "web" / ".complete").write_text("@litertjs/core@1.0.0\n")
    with pytest.raises(KerasBertError, match="received no environment with @litertjs/core@.*`kerasbert setup web`"):
        check_litert()


def test_a_site_is_written_without_tensorflow():
    code = (
        "import sys, kerasbert.web.site, kerasbert.web.server; from kerasbert.web.models import read_models; from pathlib import Path; "
        f"read_models([Path({str(FILES / 'label.tflite')!r})]); sys.exit('tensorflow' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
