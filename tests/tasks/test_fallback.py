"""Classifiers with a label for texts that belong to none of the classes: trained, tuned, saved, converted; what is refused."""

import numpy as np
import pytest

import kerasbert as kb
from kerasbert.errors import KerasBertError

OTHERS = ["we saw it", "it was"]


@pytest.fixture
def task(tiny):
    task = tiny.narrow(fallback="oos")
    task.compile(kb.adamw(0.02, warmup=0, decay="constant"), run_eagerly=True)
    task.fit(*tiny.rows(64), batch_size=16, epochs=3, verbose=0)
    return task


@pytest.mark.long
def test_a_threshold_is_chosen_saved_and_converted(tiny, task, tmp_path):
    texts, labels = tiny.rows(40, seed=3)
    below = task.choose_fallback([*texts, *OTHERS], [*labels, *["oos"] * 2])
    assert below == task.fallback_below == task.processor.fallback_below
    right = [each["label"] == label for each, label in zip(task.predictions(texts), labels, strict=True)]
    assert np.mean(right) >= 0.9
    scores = task.score([*texts, *OTHERS], [*labels, *["oos"] * 2])
    assert list(scores) == ["accuracy", "in-scope accuracy", "out-of-scope recall"]
    task.save_pretrained(tmp_path / "saved")
    loaded = kb.load_task(tmp_path / "saved")
    assert (loaded.fallback, loaded.fallback_below) == ("oos", below)
    file = tmp_path / "a.tflite"
    kb.export.convert(loaded, recipe="float32").save(file)
    loaded.fallback_below = opened_below = 0.99999
    kb.export.convert(loaded, recipe="float32").save(tmp_path / "b.tflite")
    assert kb.open(file).processor.fallback_below == below and opened_below != below
    (found,) = kb.open(tmp_path / "b.tflite")(["we saw it"])
    assert found["label"] == "oos" and set(found["probabilities"]) == set(task.labels)
    report = kb.export.validate(file, against=task, data=(texts, labels))
    assert "failed" not in {check.status for check in report.checks}
    reasons = [
        check.reason for check in kb.export.validate(tmp_path / "b.tflite", against=task, data=(texts, labels)).checks
    ]
    assert any("fallback_below" in str(reason) for reason in reasons)


def test_copies_keep_it(tiny, task):
    task.fallback_below = 0.7
    int8 = kb.compression.quantize(task, "static_wi8_ai8", calibration=tiny.rows(8)[0])
    assert (int8.fallback, int8.fallback_below) == ("oos", 0.7)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"fallback": "positive"}, "another name than the labels"),
        ({"fallback": ""}, "as a label"),
        ({"fallback": 3}, "as a label"),
        ({"fallback_below": 0.5}, "as a probability from 0 to 1, with"),
        ({"fallback": "oos", "fallback_below": 1.5}, "as a probability from 0 to 1"),
        ({"fallback": "oos", "problem": "multi_label"}, "with one class a text"),
    ],
)
def test_settings_that_do_not_fit_are_refused(tiny, settings, message):
    with pytest.raises(KerasBertError, match=message):
        tiny.narrow(**settings)


def test_what_cannot_be_chosen_is_refused(tiny, task):
    texts, labels = tiny.rows(4)
    with pytest.raises(KerasBertError, match="row 4: expected a label of a class to train on"):
        task.fit([*texts, "we"], [*labels, "oos"], verbose=0)
    with pytest.raises(KerasBertError, match="labels of the model's classes"):
        task.choose_fallback(texts, ["oos"] * 4)
    with pytest.raises(KerasBertError, match="above 0"):
        task.choose_fallback(texts, labels, keep=0)
    with pytest.raises(KerasBertError, match="to choose a threshold for"):
        tiny.narrow().choose_fallback(texts, labels)
