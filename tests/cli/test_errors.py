"""Bad input: an error of one line, an exit code other than 0, and no output."""

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest


@pytest.fixture
def one_line(run):
    def check(code, expected, *arguments):
        done = run(*arguments)
        last = done.err.splitlines()[-1]
        assert done.code == code, done.err
        assert last.startswith("error: ") and expected in last
        assert "Traceback" not in done.err and done.out == ""

    return check


def table(folder: Path, content: bytes) -> str:
    path = folder / "bad.tsv"
    path.write_bytes(content)
    return str(path)


@pytest.mark.parametrize(
    "content, expected",
    [
        (b"", "an empty file"),
        (b"text\tlabel\n", "a header and no rows"),
        (b"text\tlabel\na\tx\nb\tx\n", "only 'x' in all 2 rows"),
        (b"text\tlabel\n\xff\tx\n", "byte 0xff on line 2"),
        (b"text\na\nb\n", "a column of labels"),
        (b"words\tlabel\na\tx\n", "words, label"),
    ],
)
def test_bad_training_data(place, one_line, tmp_path, content, expected):
    out = tmp_path / "out"
    one_line(2, expected, "train", "--model", place.checkpoint, "--train", table(tmp_path, content), "--out", out)
    assert not out.exists()


def test_bad_options_of_train(place, one_line, tmp_path):
    command = ["train", "--model", place.checkpoint, "--train", place.train, "--out", tmp_path / "out"]
    one_line(2, "no such file", *command, "--dev", tmp_path / "none.tsv")
    one_line(2, "expected a column 'verdict', received the columns text, label", *command, "--label-column", "verdict")
    one_line(2, "received 'ner'", *command, "--task", "ner")
    unseen = table(tmp_path, b"text\tlabel\na\tpos\nb\tother\n")
    one_line(2, "bad.tsv, line 3: expected one of the labels neg, pos, received 'other'", *command, "--dev", unseen)
    one_line(2, "two or more different names", *command, "--labels", "pos,pos")
    one_line(2, "finite number", *command, "--task", "regression")
    one_line(2, "--epochs of at least 1", *command, "--epochs", "0")
    one_line(2, "no such option: --epoch-count", *command, "--epoch-count", "3")


@pytest.mark.long
def test_texts_without_known_tokens_are_counted_and_alone_rejected(run, one_line, place, tmp_path):
    blank = table(tmp_path, "text\tlabel\n☃☃\tpos\n \tneg\n☃\tneg\n".encode())
    command = ("train", "--task", "classification", "--model", place.checkpoint, "--out", tmp_path / "out", "--train")
    one_line(2, "received 1 empty and 2 with unknown characters only", *command, blank)
    mixed = table(tmp_path, "text\tlabel\n☃☃\tpos\na film\tneg\n☃\tneg\n".encode())
    done = run(*command, mixed, "--batch-size", "3", "--json")
    assert done.code == 0 and "texts without known tokens: 2 with unknown characters only, of 3" in done.err


def test_missing_checkpoints(place, one_line, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    for model, expected in (
        (str(tmp_path), "vocab.txt"),
        (place.train, "a file"),
        ("./none", "there is no such folder"),
        ("none", "received 'none': there is no such folder here"),
        ("org/none", "hub"),
    ):
        one_line(2, expected, "train", "--model", model, "--train", place.train, "--out", tmp_path / "out")


def test_bad_outputs_are_reported_first(place, one_line, tmp_path):
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (foreign / "thesis.txt").write_text("years of work")
    # The training data does not exist, so an error about --out comes from an earlier check.
    command = ["train", "--model", place.checkpoint, "--train", "none.tsv", "--out"]
    one_line(2, "holds other files", *command, foreign)
    one_line(2, "received the file", *command, foreign / "thesis.txt")
    one_line(2, "is a file; name another", *command, foreign / "thesis.txt" / "out")
    one_line(2, "than the folder the model is read from", *command, place.checkpoint)
    assert (foreign / "thesis.txt").read_text() == "years of work"


def test_bad_recipes_and_targets(made, place, one_line, tmp_path):
    one_line(2, "received 'int3'", "convert", made.int8, "--recipe", "int3", "-o", tmp_path / "x.tflite")
    one_line(2, "received 'moon'", "convert", made.int8, "--target", "moon", "-o", tmp_path / "x.tflite")
    one_line(2, "'resizable'", "convert", made.int8, "--length", "long", "-o", tmp_path / "x.tflite")
    one_line(2, "ending in .tflite", "convert", made.int8, "-o", tmp_path / "x.bin")
    one_line(
        2,
        "received 'int3'",
        "quantize",
        made.float,
        "--recipe",
        "int3",
        "--train",
        place.train,
        "--out",
        tmp_path / "q",
    )
    one_line(2, "quantized for", "quantize", made.int8, "--train", place.train, "--out", tmp_path / "q")
    assert list(tmp_path.iterdir()) == []


def test_damaged_and_foreign_files(made, place, one_line, tmp_path):
    whole = Path(made.file).read_bytes()
    cut, foreign = tmp_path / "cut.tflite", tmp_path / "foreign.tflite"
    cut.write_bytes(whole[: len(whole) // 4])
    foreign.write_bytes(whole[: whole.index(b"PK\x03\x04")])
    one_line(2, "without it", "predict", foreign, "good")
    one_line(2, "truncated", "inspect", cut)
    one_line(2, "not there", "predict", tmp_path / "none.tflite", "good")
    one_line(2, "TFL3", "predict", place.train, "good")


def test_data_of_another_model(made, place, one_line, tmp_path):
    unseen = table(tmp_path, b"text\tlabel\na\tother\n")
    one_line(2, "other", "evaluate", made.file, "--data", unseen)
    one_line(2, "other", "validate", made.file, "--against", made.file, "--data", unseen)
    one_line(2, "the same problem", "validate", made.file, "--against", place.checkpoint, "--data", place.dev)


def test_texts_come_from_one_source(made, one_line, place):
    one_line(2, "received neither", "predict", made.file)
    one_line(2, "received both", "predict", made.file, "good", "--file", place.dev)
    one_line(2, "received 1 for 2 texts", "predict", made.file, "good", "bad", "--pair", "fun")


@pytest.mark.parametrize(
    "error, code, expected",
    [
        (OSError(errno.ENOSPC, "No space left on device", "x"), 1, "the disk is full"),
        (PermissionError(errno.EACCES, "Permission denied", "x"), 1, "no permission for 'x'"),
        (FileNotFoundError(errno.ENOENT, "No such file", "x"), 1, "no file or folder 'x'"),
        (MemoryError(), 1, "not enough memory"),
        (ZeroDivisionError("by zero"), 1, "ZeroDivisionError: by zero; run again with --debug"),
    ],
)
def test_errors_of_the_system(made, one_line, monkeypatch, error, code, expected):
    from kerasbert.cli.inputs import models

    def fail(*arguments):
        raise error

    monkeypatch.setattr(models, "open_model", fail)
    one_line(code, expected, "predict", made.file, "good")


@pytest.mark.long
def test_a_full_disk_leaves_no_model(place, one_line, tmp_path, monkeypatch):
    def full(*arguments, **options):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("kerasbert.tasks.saving.write_folder_files", full)
    out = tmp_path / "out"
    one_line(
        1, "the disk is full", "train", "--model", place.checkpoint, "--train", place.train, "--out", out, "--epochs", 1, "--max-rows", 32
    )  # fmt: skip
    assert [path.name for path in out.iterdir()] == ["run"]  # the settings, and no incomplete model


def test_debug_shows_the_traceback_from_anywhere(made, run):
    for arguments in (["--debug", "predict", made.file], ["predict", made.file, "--debug"]):
        done = run(*arguments)
        assert done.code == 2 and "Traceback" in done.err and done.err.splitlines()[-1].startswith("error: ")
    done = run("predict", made.file, "--", "--debug")
    assert done.code == 0 and done.out.endswith("\t--debug\n")


def test_an_interrupt_in_python_code(made, run, monkeypatch, tmp_path):
    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("kerasbert.cli.outputs.destinations.check_out_file", interrupt)
    done = run("convert", made.int8, "-o", tmp_path / "x.tflite")
    assert done.code == 130
    assert done.err.splitlines()[-1] == f"interrupted; nothing was written to {tmp_path / 'x.tflite'}"


@pytest.fixture
def interruptible():
    """Restore the default handler of SIGINT. A background job of a shell ignores the signal, and its children inherit that."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.long
def test_an_interrupt_while_tensorflow_trains(place, tmp_path, interruptible):
    out = tmp_path / "out"
    command = ["train", "--model", place.checkpoint, "--train", place.train, "--epochs", "100000", "--out", str(out)]
    seen = []
    with subprocess.Popen(
        [sys.executable, "-m", "kerasbert.cli", *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        for line in process.stderr:
            seen.append(line)
            if line.startswith("epoch 2 of"):
                break
        process.send_signal(signal.SIGINT)
        try:
            rest, messages = process.communicate(timeout=30)
        finally:
            process.kill()
    assert process.returncode == 130
    config = out / "run" / "config.toml"
    assert (
        messages.splitlines()[-1]
        == f"interrupted; `kerasbert train {config} --resume` continues from the last checkpoint"
    )
    assert list(tmp_path.iterdir()) == [out] and rest == ""
    assert not [line for line in seen if "oneDNN" in line or line.startswith(("I0000", "WARNING"))]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_validation_leaves_no_temporary_folder(made, place, tmp_path, interruptible, number):
    """A child process runs the file in its own folder."""
    command = ["validate", str(made.file), "--against", str(made.file), "--data", str(place.train), "--rows", "4"]
    with subprocess.Popen(
        [sys.executable, "-m", "kerasbert.cli", *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    ) as process:  # fmt: skip
        until = time.monotonic() + 60
        while not list(tmp_path.glob("kerasbert-child-*")) and process.poll() is None and time.monotonic() < until:
            time.sleep(0.01)
        process.send_signal(number)
        try:
            _, messages = process.communicate(timeout=30)
        finally:
            process.kill()
    assert process.returncode == 130 and messages.splitlines()[-1] == "interrupted"
    assert list(tmp_path.iterdir()) == []


def test_strict_makes_an_unknown_setting_an_error(place, made, run, one_line, tmp_path):
    folder = shutil.copytree(made.float, tmp_path / "model")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "rotary_base": 10000}))
    done = run("predict", folder, "good")
    assert done.code == 0 and "config.json: ignored 1 unknown key (rotary_base)" in done.err
    one_line(2, "expected known keys only, received 1 unknown key (rotary_base)", "predict", folder, "good", "--strict")
