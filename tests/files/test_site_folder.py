"""Which files of a folder belong to a site that kerasbert wrote."""

import hashlib

import pytest

from kerasbert.files.own_files import SITE, marked_json
from kerasbert.files.partials import hidden_prefix
from kerasbert.files.site_folder import SITE_FILE, edited_files, foreign_files, read_listed, site_owner


def write_site(site, **files):
    site.mkdir(parents=True, exist_ok=True)
    listed = {}
    for path, content in files.items():
        (site / path).write_text(content, "utf-8")
        listed[path] = {"bytes": len(content), "sha256": hashlib.sha256(content.encode()).hexdigest()}
    (site / SITE_FILE).write_text(marked_json(SITE, {"version": "1", "files": listed}), "utf-8")
    return site


@pytest.mark.parametrize(
    "content", ["", "{}", '{"files": {}}', marked_json("report", {"files": {}}), marked_json(SITE, {"files": []}), "\0"]
)
def test_another_list_of_files_is_not_a_sites(tmp_path, content):
    (tmp_path / SITE_FILE).write_text(content, "utf-8")
    assert read_listed(tmp_path) is None
    assert not site_owner(tmp_path)(SITE_FILE)


def test_a_site_owns_what_it_lists(tmp_path):
    owns = site_owner(write_site(tmp_path / "site", a="1"), ["new"])
    assert [path for path in ("a", SITE_FILE, "new", "b", "a/b") if owns(path)] == ["a", SITE_FILE, "new"]


def test_files_of_a_copy_beside_it_are_owned_too(tmp_path):
    folder = write_site(tmp_path / "site", a="1")
    write_site(tmp_path / f"{hidden_prefix('site')}abcdefgh.new", b="2")
    assert site_owner(folder)("b")
    write_site(tmp_path / f"{hidden_prefix('other')}abcdefgh.new", c="2")
    assert not site_owner(folder)("c")


def test_edited_files_are_found(tmp_path):
    folder = write_site(tmp_path, same="1", longer="1", other="1", missing="1", link="1", folder="1")
    assert edited_files(folder) == []
    (folder / "longer").write_text("12")
    (folder / "other").write_text("2")
    for name in ("missing", "link", "folder"):
        (folder / name).unlink()
    (folder / "link").symlink_to(folder / "same")
    (folder / "folder").mkdir()
    assert edited_files(folder) == ["longer", "other", "link", "folder"]


def test_files_of_others_in_the_way_are_found(tmp_path):
    folder = write_site(tmp_path, own="1")
    (folder / "theirs").write_text("1")
    (folder / "real").mkdir()
    (folder / "link").symlink_to(folder / "real")
    paths = ["own", "new", "real/new", "theirs", "theirs/new", "link/new", SITE_FILE]
    assert foreign_files(folder, paths) == ["theirs", "theirs/new", "link/new"]


def test_own_paths_below_a_link_are_foreign(tmp_path):
    folder = write_site(tmp_path, own="1")
    (tmp_path / "elsewhere").mkdir()
    listed = {"models/a.tflite": {"bytes": 1, "sha256": ""}}
    (folder / SITE_FILE).write_text(marked_json(SITE, {"files": listed}))
    (folder / "models").symlink_to(tmp_path / "elsewhere")
    assert foreign_files(folder, ["models/a.tflite"]) == ["models/a.tflite"]
