"""Output paths: rejected before any work if files of the user would be lost, or if writing cannot succeed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kerasbert.cli.outputs.destinations import check_companions, check_out_file, check_out_folder
from kerasbert.cli.process.claims import claims
from kerasbert.cli.runs.worker_output import output_folder
from kerasbert.errors import KerasBertError
from kerasbert.files import partials
from kerasbert.files.model_folder import COMMAND_FILE, CONFIG_FILE, OWN_FILE, RUN_FOLDER, STATE_FILE
from kerasbert.files.own_files import METADATA, MODEL, REPORT, marked_json


@pytest.fixture
def model(tmp_path):
    """A folder with a model of kerasbert."""
    out = tmp_path / "model"
    out.mkdir()
    (out / OWN_FILE).write_text("{}")
    return out


@pytest.fixture
def interrupted(tmp_path):
    """A folder with a training that was interrupted in its first epoch."""
    out = tmp_path / "interrupted"
    (out / RUN_FOLDER).mkdir(parents=True)
    for name in (STATE_FILE, CONFIG_FILE):
        (out / RUN_FOLDER / name).write_text("")
    return out


def refused(expected: str, out: Path, *sources, **options) -> None:
    before = sorted(out.parent.rglob("*")) if out.parent.is_dir() else None
    with claims(None), pytest.raises(KerasBertError, match=expected) as error:
        check_out_folder(out, *sources, **options)
    assert "\n" not in str(error.value)
    assert before == (sorted(out.parent.rglob("*")) if out.parent.is_dir() else None)


def accepted(out: Path, **options) -> None:
    with claims(None):
        check_out_folder(out, **options)


def test_a_model_is_replaced_only_when_asked(model):
    refused("holds a model; name another, or replace it with --overwrite", model)
    accepted(model, overwrite=True)
    accepted(model, resume=True)  # the run itself checks that it can be resumed


@pytest.mark.parametrize("name", [CONFIG_FILE, COMMAND_FILE])
def test_an_interrupted_training_is_replaced_only_when_asked(interrupted, name):
    (interrupted / RUN_FOLDER / CONFIG_FILE).rename(interrupted / RUN_FOLDER / name)
    refused("holds an interrupted training; continue it with --resume, or replace it with --overwrite", interrupted)
    (interrupted / OWN_FILE).write_text("{}")  # and after its first epoch
    refused("holds an interrupted training; continue it with --resume", interrupted)
    accepted(interrupted, overwrite=True)
    accepted(interrupted, resume=True)
    refused("--resume or --overwrite, received both", interrupted, resume=True, overwrite=True)


def test_a_run_without_a_saved_state_is_replaced(interrupted):
    (interrupted / RUN_FOLDER / STATE_FILE).unlink()
    accepted(interrupted)


@pytest.mark.parametrize("options", [{"resume": True}, {"overwrite": True}])
def test_what_a_killed_training_was_writing_goes(interrupted, options):
    partial, lock = partials.create(interrupted / RUN_FOLDER / "best.safetensors")
    users = interrupted / RUN_FOLDER / ".hidden"
    users.write_text("")
    accepted(interrupted, **options)
    assert partial.is_file(), "its process still lives"
    partials.release_lock(lock)
    accepted(interrupted, **options)
    assert users.is_file() and not partial.exists()


def test_a_worker_that_is_not_the_chief_writes_to_a_temporary_folder(tmp_path, monkeypatch):
    cluster = {"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 1}}
    monkeypatch.setenv("TF_CONFIG", json.dumps(cluster))
    with output_folder(str(tmp_path / "out"), "multi-worker") as out:
        assert not out.is_relative_to(tmp_path)
        accepted(out)


def test_foreign_folders_are_kept_even_with_overwrite(tmp_path):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.txt").write_text("years of work")
    for overwrite in (False, True):
        refused("holds other files; name another", tmp_path / "thesis", overwrite=overwrite)


@pytest.mark.parametrize("target", ["elsewhere", "file"])
def test_a_foreign_run_folder_is_rejected(model, tmp_path, target):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "file").write_text("")
    (model / RUN_FOLDER).symlink_to(tmp_path / target)
    refused(f"received a link to .*{target}", model, overwrite=True)
    (model / RUN_FOLDER).unlink()
    (model / RUN_FOLDER).write_text("a file")
    refused("received a file", model, overwrite=True)


def test_links(model, tmp_path):
    (tmp_path / "link").symlink_to(model)
    refused("holds a model", tmp_path / "link")
    refused("than the folder the model is read from", tmp_path / "link", model)
    accepted(tmp_path / "link", overwrite=True)
    (tmp_path / "dangling").symlink_to(tmp_path / "none")
    refused("a link to nothing", tmp_path / "dangling")


def test_one_missing_folder_is_created(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with claims(None):
        check_out_folder(Path("runs/mine"))
        assert os.listdir("runs") and not Path("runs/mine").exists()  # the lock
    assert not Path("runs").exists()  # nothing was written
    refused("there is no '.*none'; make it first", Path("none/deep/mine"))
    with claims(None), pytest.raises(KerasBertError, match="there is no '.*none'; make it first"):
        check_out_file(Path("none/x.tflite"), "--out", MODEL)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", ["a" * 256, "\u00e4" * 128])
def test_too_long_names_are_rejected(tmp_path, name):
    refused("a name of at most 255 bytes, received one of 256", tmp_path / name)
    with claims(None), pytest.raises(KerasBertError, match="a name of at most 255 bytes"):
        check_companions([(tmp_path / name, METADATA)])
    deep = tmp_path.joinpath(*["d" * 250] * 16)
    with pytest.raises(KerasBertError, match="a path of at most 4096 bytes"):
        check_out_folder(deep)


def test_the_longest_names_are_accepted(tmp_path):
    accepted(tmp_path / ("a" * 255))
    assert os.listdir(tmp_path) == []


def test_mount_points_and_the_working_directory_are_kept(model, monkeypatch):
    monkeypatch.setattr("os.path.ismount", lambda path: str(path) == str(model))
    refused("where a disk is mounted; name a new folder in it", model, overwrite=True)
    monkeypatch.setattr("os.path.ismount", lambda path: str(path) == str(model / "data"))
    (model / "data").mkdir()
    refused("data', where a disk is mounted", model, overwrite=True)
    monkeypatch.undo()
    monkeypatch.chdir(model / "data")
    refused("in which this command runs", model, overwrite=True)


HOLD = """
import sys
from pathlib import Path
from kerasbert.cli.process.claims import claims
from kerasbert.cli.outputs.destinations import check_out_folder
with claims(None):
    check_out_folder(Path(sys.argv[1]))
    print("held", flush=True)
    sys.stdin.read()
"""


def test_two_commands_with_one_output(tmp_path):
    out = tmp_path / "runs" / "mine"
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(out)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as first:
        assert first.stdout.readline() == "held\n"
        refused(f"received one that process {first.pid} is writing to; wait until it ends, or name another", out)
        accepted(out.with_name("other"))
        first.kill()
        first.wait()
    accepted(out)  # the lock ended with its process
    assert list(tmp_path.rglob("*")) == [tmp_path / "runs"]


def test_interruption_messages(tmp_path, model, interrupted):
    with claims(tmp_path / "new") as claimed:
        (tmp_path / "new" / RUN_FOLDER).mkdir(parents=True)
        assert claimed.interruption_message() == f"interrupted; nothing was written to {tmp_path / 'new'}"
        (tmp_path / "new" / OWN_FILE).write_text("{}")
        assert claimed.interruption_message() == f"interrupted; already written: {tmp_path / 'new'}"
    with claims(None) as claimed:
        assert claimed.interruption_message() == "interrupted"
        check_out_folder(model, overwrite=True)
        assert claimed.interruption_message() == f"interrupted; nothing was written to {model}"
    with claims(interrupted) as claimed:
        config = interrupted / RUN_FOLDER / CONFIG_FILE
        assert claimed.interruption_message().startswith(f"interrupted; `kerasbert train {config} --resume` continues")
        config.rename(config.with_name(COMMAND_FILE))
        assert "the same command with --resume continues" in claimed.interruption_message()


def test_only_files_of_kerasbert_are_replaced(tmp_path):
    foreign, own = tmp_path / "theirs.json", tmp_path / "ours.json"
    foreign.write_text('{"data": "my questions"}')
    own.write_text(marked_json(REPORT, {"verdict": "passed"}))
    with claims(None):
        check_out_file(own, "--report", REPORT)
        check_companions([(own, REPORT), (tmp_path / "new.json", METADATA)])
        with pytest.raises(KerasBertError, match="one that kerasbert wrote, received .*theirs.json"):
            check_out_file(foreign, "--report", REPORT)
        with pytest.raises(KerasBertError, match="theirs.json"):
            check_companions([(foreign, METADATA)])
        with pytest.raises(KerasBertError, match="ours.json"):  # a report is not metadata
            check_companions([(own, METADATA)])


def test_the_quickstart_keeps_foreign_files(tmp_path):
    from kerasbert.zoo import quickstart

    for name in ("report.html", "summary.json", "assistant-float32.tflite", "assistant-float32.tflite.json"):
        (tmp_path / name).write_text("mine")
        with pytest.raises(KerasBertError, match=name):
            quickstart.run(tmp_path)
        (tmp_path / name).unlink()
    (tmp_path / "float").mkdir()
    (tmp_path / "float" / "notes.txt").write_text("mine")
    with pytest.raises(KerasBertError, match="float"):
        quickstart.run(tmp_path)
