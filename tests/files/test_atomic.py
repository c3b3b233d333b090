"""Atomic writes, also for a process that is killed at any of its steps."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kerasbert.errors import KerasBertError
from kerasbert.files import atomic, exchange, partials
from kerasbert.files.atomic import atomic_file, atomic_folder, recover

OWNED = ("model", "config", "vocab")
STEPS = {
    "os.rename", "os.link", "os.remove", "os.rmdir", "os.mkdir", "os.symlink", "os.chmod", "os.listdir", "os.scandir", "open",
    "ctypes.dlsym",
}  # fmt: skip


def save(out: Path, version: str) -> None:
    with atomic_folder(out, owns=lambda path: path in OWNED) as partial:
        for name in OWNED[: 2 if version == "new" else 3]:  # the new one has no vocabulary
            (partial / name).write_text(version)


def make_model(out: Path) -> None:
    """Create a model with a run and with files of the user."""
    save(out, "old")
    (out / "run").mkdir()
    (out / "run" / "state").write_text("state")
    (out / "my_notes.txt").write_text("notes")
    (out / "data" / "deep" / "empty").mkdir(parents=True)
    (out / "data" / "deep" / "rows.tsv").write_text("rows")
    (out / "link").symlink_to("data/deep")


def foreign_content(out: Path) -> dict[str, str]:
    return {
        "run/state": (out / "run/state").read_text(),
        "my_notes.txt": (out / "my_notes.txt").read_text(),
        "data/deep/rows.tsv": (out / "data/deep/rows.tsv").read_text(),
        "link": os.readlink(out / "link"),
        "empty": str(os.listdir(out / "data/deep/empty")),
    }


def complete_version(out: Path) -> str:
    """Return the version of the model; raises AssertionError unless exactly one is complete."""
    files = {name: (out / name).read_text() for name in OWNED if (out / name).exists()}
    assert files in (dict.fromkeys(OWNED, "old"), dict.fromkeys(OWNED[:2], "new")), files
    return files["model"]


def hidden_names(folder: Path) -> list[str]:
    return [name for name in os.listdir(folder) if name.startswith(".")]


def killed_at(step: int, out: Path) -> bool:
    """Save over `out` in a child that kills itself at that step; returns False if it finished earlier."""
    child = os.fork()
    if child == 0:
        seen = []

        def count(event: str, arguments) -> None:
            if event in STEPS:
                seen.append(event)
                if len(seen) == step:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(count)
        save(out, "new")
        os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def kill_at_every_step(base: Path, way: str) -> None:
    """Kill `save` at each of its steps and print the observed states; run as a script by the test below."""
    if way in ("renames", "poor"):
        atomic.exchange = lambda one, other: False
    if way in ("moves", "poor"):

        def no_links(source, target):
            raise OSError("no links here")

        exchange._link = no_links
    step, seen = 0, {"old": 0, "new": 0, "missing": 0, "apart": 0}
    while True:
        step += 1
        out = base / f"{step}" / "model"
        out.parent.mkdir()
        make_model(out)
        before = foreign_content(out)
        if not killed_at(step, out):
            break
        if out.exists():
            seen[complete_version(out)] += 1
        else:
            seen["missing"] += 1
        try:
            seen["apart"] += foreign_content(out) != before
        except OSError:
            seen["apart"] += 1
        recover(out)
        complete_version(out)
        save(out, "new")
        assert complete_version(out) == "new" and foreign_content(out) == before, step
        assert not hidden_names(out.parent), (step, hidden_names(out.parent))
    print(json.dumps({"steps": step, **seen}))


@pytest.mark.long_cases
@pytest.mark.parametrize("way", ["exchange", "renames", "moves", "poor"])
def test_one_complete_version_survives_a_kill_at_any_step(tmp_path, way):
    """exchange: as on Linux. renames: a file system that cannot exchange folders. moves: one without links. poor: one without both."""
    if way in ("exchange", "moves"):
        (tmp_path / "a").mkdir()
        (tmp_path / "b").mkdir()
        if not exchange.exchange(tmp_path / "a", tmp_path / "b"):
            pytest.skip("this file system cannot exchange folders")
    (tmp_path / "kills").mkdir()
    script = [sys.executable, __file__, str(tmp_path / "kills"), way]
    ended = subprocess.run(script, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": os.getcwd()})
    assert ended.returncode == 0, ended.stderr
    seen = json.loads(ended.stdout)
    assert seen["steps"] > 30 and seen["old"] and seen["new"]
    if way in ("exchange", "moves"):
        assert seen["missing"] == 0
    if way == "exchange":
        assert seen["apart"] == 0


def test_foreign_files_move_to_the_new_folder(tmp_path):
    make_model(tmp_path / "model")
    (tmp_path / "model" / "run" / f"{partials.hidden_prefix('state')}12345678").write_text("cut short")
    before, mode = foreign_content(tmp_path / "model"), 0o750
    (tmp_path / "model").chmod(mode)
    save(tmp_path / "model", "new")
    assert complete_version(tmp_path / "model") == "new" and foreign_content(tmp_path / "model") == before
    assert os.listdir(tmp_path / "model" / "run") == ["state"]
    assert (tmp_path / "model").stat().st_mode & 0o777 == mode and not hidden_names(tmp_path)


@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()])
def test_folder_is_unchanged_after_an_error(tmp_path, error):
    make_model(tmp_path / "model")
    before = foreign_content(tmp_path / "model")
    with pytest.raises(type(error)), atomic_folder(tmp_path / "model", owns=lambda path: path in OWNED) as partial:
        (partial / "model").write_text("new")
        (partial / "unknown").write_text("new")
        raise error
    assert complete_version(tmp_path / "model") == "old" and foreign_content(tmp_path / "model") == before
    assert not hidden_names(tmp_path) and not (tmp_path / "model" / "unknown").exists()


def test_files_created_during_the_exchange_are_kept(tmp_path, monkeypatch):
    make_model(tmp_path / "model")

    def late(one, other):
        (tmp_path / "model" / "late.txt").write_text("late")
        return exchange.exchange(one, other)

    monkeypatch.setattr(atomic, "exchange", late)
    save(tmp_path / "model", "new")
    assert (tmp_path / "model" / "late.txt").read_text() == "late" and not hidden_names(tmp_path)


def test_links_are_followed(tmp_path):
    make_model(tmp_path / "elsewhere")
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "model").symlink_to("../elsewhere")
    save(tmp_path / "links" / "model", "new")
    assert complete_version(tmp_path / "elsewhere") == "new" and (tmp_path / "links" / "model").is_symlink()
    (tmp_path / "file").write_text("old")
    (tmp_path / "links" / "file").symlink_to(tmp_path / "file")
    with atomic_file(tmp_path / "links" / "file") as partial:
        partial.write_text("new")
    assert (tmp_path / "file").read_text() == "new" and (tmp_path / "links" / "file").is_symlink()
    assert not hidden_names(tmp_path) and not hidden_names(tmp_path / "links")


def test_partial_files_in_use_are_kept(tmp_path):
    with atomic_file(tmp_path / "file") as first, atomic_folder(tmp_path / "folder") as folder:
        first.write_text("first")
        with atomic_file(tmp_path / "file") as second:
            second.write_text("second")
        assert recover(tmp_path / "folder", owns=lambda path: True) == []
        assert first.read_text() == "first" and folder.is_dir()
    assert (tmp_path / "file").read_text() == "first" and not hidden_names(tmp_path)


def test_files_with_similar_names_are_kept(tmp_path):
    for name in (
        ".file.kerasbert-notes",
        ".file.12345678.tmp",
        ".other.kerasbert-12345678",
        ".file.kerasbert-12345678x",
    ):
        (tmp_path / name).write_text("foreign")
    (tmp_path / ".file.kerasbert-abcdefgh").write_text("left of a killed process")
    with atomic_file(tmp_path / "file") as partial:
        partial.write_text("new")
    assert len(hidden_names(tmp_path)) == 4 and not (tmp_path / ".file.kerasbert-abcdefgh").exists()


@pytest.mark.parametrize("name", ["a" * 255, "\u00e4" * 127, "\U0001f600" * 63])
def test_names_of_maximum_length(tmp_path, name):
    with atomic_file(tmp_path / name) as partial:
        partial.write_text("new")
    assert os.listdir(tmp_path) == [name]


def test_missing_parent_folder_is_an_error(tmp_path):
    with pytest.raises(KerasBertError, match="make .*new.* first"), atomic_file(tmp_path / "new" / "file"):
        pass
    assert not os.listdir(tmp_path)


def test_working_directory_is_not_replaced(tmp_path, monkeypatch):
    make_model(tmp_path / "model")
    monkeypatch.chdir(tmp_path / "model" / "data")
    for out in ("..", tmp_path / "model"):
        with pytest.raises(KerasBertError, match="in which this command runs"):
            save(Path(out), "new")
    assert complete_version(tmp_path / "model") == "old"


def test_file_permissions_are_kept(tmp_path):
    (tmp_path / "file").write_text("old")
    (tmp_path / "file").chmod(0o600)
    with atomic_file(tmp_path / "file") as partial:
        partial.write_text("new")
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o600


if __name__ == "__main__":
    kill_at_every_step(Path(sys.argv[1]), sys.argv[2])


@pytest.mark.parametrize("kind", ["link", "file"])
def test_a_path_of_another_that_the_new_folder_would_hide_is_an_error(tmp_path, kind):
    out = tmp_path / "site"
    out.mkdir()
    (tmp_path / "elsewhere").mkdir()
    if kind == "link":
        (out / "models").symlink_to(tmp_path / "elsewhere")
    else:
        (out / "models").write_text("mine")
    with pytest.raises(
        KerasBertError, match=f"expected a folder of kerasbert or nothing at .*models', received a {kind}"
    ):
        with atomic_folder(out, owns=lambda path: path.startswith("models/")) as partial:
            (partial / "models").mkdir()
            (partial / "models" / "a").write_text("new")
    assert [path.name for path in out.iterdir()] == ["models"] and not hidden_names(tmp_path)
