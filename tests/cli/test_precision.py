"""`--precision bfloat16` of `kerasbert train` and `kerasbert distill`."""

import json
from pathlib import Path

import numpy as np
import pytest
import tf_keras as keras

from kerasbert.checkpoints.safetensors_file import read_tensors
from kerasbert.errors import KerasBertError


@pytest.fixture
def any_processor(monkeypatch):
    """A machine whose processor computes in bfloat16. Others round to it more slowly."""
    from kerasbert.tasks import precision

    monkeypatch.setattr(precision, "check_precision", lambda name: None)


@pytest.fixture
def dtypes(monkeypatch):
    """The arithmetic of the layers of each model that is trained."""
    from kerasbert.cli.runs import training_run

    found, fit = [], training_run.TrainingRun.fit

    def recorded(self, task, *arguments, **keywords):
        student = getattr(task, "student", task)
        found.append({each.compute_dtype for each in student._flatten_layers()})
        return fit(self, task, *arguments, **keywords)

    monkeypatch.setattr(training_run.TrainingRun, "fit", recorded)
    return found


def test_training_in_bfloat16_saves_weights_of_float32(place, run, tmp_path, any_processor, dtypes):
    command = ["train", "--model", place.checkpoint, "--train", place.train, "--max-rows", "32", "--epochs", "1"]
    for name in ("float32", "bfloat16"):
        done = run(*command, "--dropout", "0", "--precision", name, "--out", tmp_path / name)
        assert done.code == 0, done.err
    assert keras.mixed_precision.global_policy().name == "float32"
    assert [bool(each & {"bfloat16"}) for each in dtypes] == [False, True]
    exact, rounded = (read_tensors(tmp_path / name) for name in ("float32", "bfloat16"))
    assert {str(each.dtype) for each in rounded.values()} == {"float32"}
    moved = [name for name in exact if (exact[name] != rounded[name]).any()]
    assert moved and all(np.abs(exact[name] - rounded[name]).max() < 5e-3 for name in moved)
    assert 'precision = "bfloat16"' in (tmp_path / "bfloat16" / "run" / "config.toml").read_text()
    assert run("predict", tmp_path / "bfloat16", "a good film").code == 0


@pytest.mark.long
@pytest.mark.parametrize(
    "options",
    [
        ["--objectives", "soft-labels,cosine,hidden,attention,relations,features"],
        ["--method", "tinybert"],
        ["--method", "theseus"],
    ],
    ids=lambda each: " ".join(each[:2]),
)
def test_a_student_in_bfloat16_learns_from_a_teacher_in_float32(
    place, made, run, tmp_path, any_processor, dtypes, options
):
    command = ["distill", "--teacher", made.float, "--train", place.train, "--layers", "1", "--max-rows", "16"]
    out = tmp_path / "student"
    done = run(*command, *options, "--precision", "bfloat16", "--epochs", "2", "--out", out)
    assert done.code == 0, done.err
    assert dtypes and all("bfloat16" in each for each in dtypes)
    epochs = json.loads((out / "training.json").read_text())["epochs"]
    assert np.isfinite(epochs[-1]["loss"])
    assert {str(each.dtype) for each in read_tensors(out).values()} == {"float32"}


def test_a_processor_without_bfloat16_is_named(place, run, tmp_path, monkeypatch):
    read = Path.read_text
    monkeypatch.setattr(
        Path, "read_text", lambda self, *rest: "flags: avx2" if str(self) == "/proc/cpuinfo" else read(self, *rest)
    )
    out = tmp_path / "model"
    done = run("train", "--model", place.checkpoint, "--train", place.train, "--precision", "bfloat16", "--out", out)
    assert done.code == 2 and "expected a processor with bfloat16" in done.err and not out.exists()
    assert keras.mixed_precision.global_policy().name == "float32"


def test_a_second_thread_computes_in_its_precision_until_it_ends(any_processor):
    import threading

    from kerasbert.tasks.precision import dtype_policy

    inside, release, over = (threading.Event() for _ in range(3))
    names = []

    def first():
        with dtype_policy("bfloat16"):
            inside.set()
            release.wait(10)
        over.set()

    def second():
        with dtype_policy("bfloat16"):
            over.wait(10)  # the first one has put the policy back
            names.append(keras.mixed_precision.global_policy().name)

    threads = [threading.Thread(target=each) for each in (first, second)]
    threads[0].start()
    inside.wait(10)
    threads[1].start()
    threads[1].join(0.3)
    release.set()
    for thread in threads:
        thread.join(20)
    assert names == ["mixed_bfloat16"] and keras.mixed_precision.global_policy().name == "float32"


@pytest.mark.parametrize("precision", ["float16", "mixed_bfloat16", None, 16])
def test_another_precision_is_refused(tiny, precision):
    with pytest.raises(KerasBertError, match=f"expected a precision of float32, bfloat16, received {precision!r}"):
        tiny.narrow().with_precision(precision)
