"""A file in a process of its own computes as in this process, and its crashes stay contained."""

import gc
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kerasbert.cli import main
from kerasbert.errors import KerasBertError
from kerasbert.export import benchmark
from kerasbert.export.runtime import isolated_session
from kerasbert.export.runtime.interpreters import open_model
from kerasbert.export.runtime.isolated_session import WorkerProcess
from kerasbert.export.runtime.messages import Channel, ChannelClosed, ChannelTimeout
from kerasbert.export.runtime.opening import open_pipeline
from kerasbert.export.tflite import metadata
from kerasbert.export.validation.reference import open_reference
from kerasbert.processors import make_processor

ENDS = {
    "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)": "a process killed by SIGSEGV",
    "print('no message', flush=True); input()": "a process that answers a header of",
    "import sys; sys.exit('std::bad_alloc')": "exit code 1: std::bad_alloc",
}


@pytest.fixture
def known_file(float_file, card, tmp_path):
    path, words = tmp_path / "known.tflite", ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *card.vocabulary[5:]]
    path.write_bytes(metadata.append(float_file, replace(card, vocabulary=tuple(words))))
    return path


def test_outputs_equal_those_in_this_process(float_file, helpers):
    rows, here, there = helpers.packed_rows(3), open_model(float_file), WorkerProcess(float_file).open()
    assert (there.inputs, there.outputs, there.signature) == (here.inputs, here.outputs, here.signature)
    assert (there.length, there.lengths, there.resizable) == (here.length, (), False)
    assert there.ops_by_backend == here.ops_by_backend and there.partitions == here.partitions
    for number in range(3):
        row = {name: values[number : number + 1] for name, values in rows.items()}
        np.testing.assert_array_equal(there.run(row)["probabilities"], here.run(row)["probabilities"])
    with pytest.raises(KerasBertError, match="token_type_ids"):
        there.run({"input_ids": rows["input_ids"][:1]})


def test_a_resizable_file_runs_at_several_lengths(resizable_file, helpers):
    file = WorkerProcess(resizable_file)
    assert [file.open(length).run(helpers.packed_rows(1, length))["probabilities"].shape for length in (5, 9)] == [
        (1, 3)
    ] * 2
    with pytest.raises(KerasBertError, match="sequence length"):
        WorkerProcess(resizable_file).open(-9)


@pytest.mark.parametrize("code", ENDS)
def test_a_process_that_ends_is_an_error_of_one_line(float_file, monkeypatch, code):
    monkeypatch.setattr(isolated_session, "_COMMAND", (sys.executable, "-S", "-c", code))
    with pytest.raises(KerasBertError) as error:
        WorkerProcess(float_file, seconds=10).open()
    assert ENDS[code] in str(error.value) and "\n" not in str(error.value)


def test_a_process_that_hangs_is_stopped(float_file, monkeypatch):
    monkeypatch.setattr(isolated_session, "_COMMAND", (sys.executable, "-S", "-c", "import time; time.sleep(60)"))
    file = WorkerProcess(float_file, seconds=0.2)
    process = file._worker.process
    with pytest.raises(KerasBertError, match="stopped after 0 s, the time limit"):
        file.open()
    assert process.poll() is not None


@pytest.mark.parametrize("words", [("predict", "FILE", "word1"), ("inspect", "FILE", "--targets")])
def test_a_native_crash_is_an_error_of_one_line_in_commands(known_file, monkeypatch, capfd, words):
    crash = "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"
    monkeypatch.setattr(isolated_session, "_COMMAND", (sys.executable, "-S", "-c", crash))
    code = main([str(known_file) if word == "FILE" else word for word in words])
    out, err = capfd.readouterr()
    output = err if words[0] == "predict" else out
    assert "killed by SIGSEGV" in output and "Fatal" not in err
    assert (code, err.count("\n")) == ((2, 1) if words[0] == "predict" else (0, 0))


def test_the_process_ends_with_its_owner(known_file):
    predictor = open_pipeline(known_file, isolated=True)
    assert predictor.predictions(["word1 word2"])[0]["label"] in ("a", "b", "c")
    process = predictor.process._worker.process
    del predictor
    gc.collect()
    assert process.poll() is not None


def test_memory_is_limited_by_the_size_of_the_file(float_file):
    code = (
        "import sys\nfrom kerasbert.export.runtime.session_worker import _limit_memory\n_limit_memory(sys.argv[1])\n"
        "try:\n    bytearray(1 << 30)\nexcept MemoryError:\n    sys.exit(7)"
    )
    assert subprocess.run([sys.executable, "-c", code, float_file], check=False).returncode == 7


def test_messages_are_sent_and_damaged_ones_refused():
    (reader, out), values = os.pipe(), {"a": np.arange(6, dtype=np.int32).reshape(2, 3), "text": np.array(["größe"])}
    channel = Channel(reader, out)
    with pytest.raises(ChannelTimeout):
        channel.receive(0.01)
    channel.send({"request": "run"}, values)
    header, found = channel.receive(5)
    assert header == {"request": "run"} and all((found[name] == values[name]).all() for name in values)
    for bad in (
        b"\xff" * 8,
        b"\x02" + b"\0" * 7 + b"[]",
        b"\x26" + b"\0" * 7 + b'{"arrays": [["a", "|O", [1]]]}        ',
    ):
        os.write(out, bad)
        with pytest.raises((ValueError, TypeError, AttributeError)):
            channel.receive(5)
    os.close(out)
    with pytest.raises(ChannelClosed):
        channel.receive(5)
    os.close(reader)


def test_many_rows_share_messages(known_file, monkeypatch):
    """Predictions keep the order of the texts."""
    texts = [f"word{number % 20 + 1} word{number % 7 + 1}" for number in range(40)]
    predictor, sent = open_pipeline(known_file, isolated=True), []
    request = WorkerProcess.request
    monkeypatch.setattr(
        WorkerProcess, "request", lambda self, header, arrays=None: sent.append(header) or request(self, header, arrays)
    )
    assert predictor.predictions(texts) == open_pipeline(known_file).predictions(texts)
    assert sum(header.get("rows", 0) for header in sent) == 40 and len(sent) < 30


def test_a_crash_of_the_reference_is_an_error_of_one_line(known_file, monkeypatch):
    crash = "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"
    monkeypatch.setattr(isolated_session, "_COMMAND", (sys.executable, "-S", "-c", crash))
    with pytest.raises(KerasBertError, match="killed by SIGSEGV"):
        open_reference(known_file).outputs({"input_ids": np.ones((1, 8), np.int32)}, np.arange(1))
    with pytest.raises(KerasBertError, match="killed by SIGSEGV"):
        benchmark(known_file, runs=1)


def test_the_thread_that_opened_a_file_may_end(known_file):
    with ThreadPoolExecutor(1) as pool:
        predictor = pool.submit(open_pipeline, known_file, isolated=True).result()
        first = pool.submit(predictor.predictions, ["word1"]).result()
    assert predictor.predictions(["word1"]) == first


@pytest.mark.long
def test_the_process_ends_when_its_parent_is_killed(known_file):
    code = (
        "import os, signal, sys\nfrom kerasbert.export.runtime.isolated_session import WorkerProcess\n"
        "file = WorkerProcess(sys.argv[1])\nfile.open()\n"
        "os.set_inheritable(file._worker.process.stdin.fileno(), True)\n"  # another process holds it open, so it does not close
        "holder = os.fork()\nif not holder:\n    null = os.open(os.devnull, os.O_RDWR)\n    os.dup2(null, 1)\n    os.dup2(null, 2)\n"
        "    os.execlp('sleep', 'sleep', '20')\n"
        "print(file._worker.process.pid, holder, flush=True)\nos.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", code, known_file], capture_output=True, text=True, check=False)
    child, holder = map(int, done.stdout.split())
    until = time.monotonic() + 10
    while Path(f"/proc/{child}/cmdline").exists() and b"session_worker" in Path(f"/proc/{child}/cmdline").read_bytes():
        assert time.monotonic() < until
        time.sleep(0.05)
    os.kill(holder, signal.SIGKILL)


@pytest.mark.parametrize("problem", ["tagging", "masked_lm"])
def test_outputs_of_another_task_are_refused(float_file, card, tmp_path, problem):
    words = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *card.vocabulary[5:])
    path = tmp_path / "other.tflite"
    path.write_bytes(
        metadata.append(float_file, replace(card, vocabulary=words, processor=make_processor(problem, card.labels)))
    )
    with pytest.raises(KerasBertError, match="received the shape|outputs"):
        open_pipeline(path).predictions(["word1 [MASK]"])
