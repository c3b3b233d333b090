"""Tasks that are called with texts, with pairs in place of texts, or without what they need."""

import numpy as np
import pytest
import tensorflow as tf

import kerasbert as kb
from kerasbert.errors import KerasBertError
from kerasbert.processors import make_processor

pytestmark = pytest.mark.one_layer

TEXTS, PAIRS = ["good film", "bad end"], [("good film", "fine"), ("bad end", "grim")]
PACKED = {"input_ids": np.full((2, 6), 5, np.int32)}


@pytest.mark.parametrize(
    "inputs",
    [["a text"], "a text", {"text": ["a text"]}, np.array(["a text"]), tf.constant([["a text"]]), None, 5, [5], {}],
)
@pytest.mark.long_cases
def test_a_task_that_is_called_with_texts_names_predict(tiny, inputs):
    with pytest.raises(KerasBertError, match="call predict with texts"):
        tiny.narrow()(inputs)


def test_a_task_is_called_with_arrays_and_tensors(tiny):
    task = tiny.narrow()
    wanted = task(PACKED).numpy()
    for inputs in (
        PACKED["input_ids"],
        tf.constant(PACKED["input_ids"]),
        {"input_ids": tf.constant(PACKED["input_ids"])},
    ):
        np.testing.assert_array_equal(task(inputs).numpy(), wanted)


def test_freeze_without_parts_names_the_parts(tiny):
    task = tiny.narrow()
    with pytest.raises(
        KerasBertError, match="the parts to freeze .encoder, embeddings, layers.0, pooler, head., received none"
    ):
        kb.training.freeze(task)
    with pytest.raises(KerasBertError, match="name of a part, such as 'encoder', received list"):
        kb.training.freeze(task, ["encoder"])
    with pytest.raises(KerasBertError, match="expected a task"):
        kb.training.freeze("encoder", "head")
    assert len(task.trainable_variables) == len(task.variables)


@pytest.mark.long_cases("columns", "packed")
@pytest.mark.parametrize(
    ("data", "labels"),
    [
        (TEXTS, [0, 1]),
        (PAIRS, [0, 1]),
        (tuple(zip(*PAIRS, strict=True)), [0, 1]),
        ({**PACKED, "token_type_ids": np.zeros((2, 6), np.int32)}, [0, 1]),
        (tf.data.Dataset.from_tensor_slices((TEXTS, [0, 1])), None),
        (tf.data.Dataset.from_tensor_slices((tuple(map(list, zip(*PAIRS, strict=True))), [0, 1])), None),
    ],
    ids=["texts", "pairs", "columns of pairs", "packed", "dataset of texts", "dataset of pairs"],
)
def test_fit_learns_whether_examples_are_pairs(tiny, tmp_path, data, labels, request):
    task = tiny.narrow()
    task.compile(kb.adamw(1e-3), run_eagerly=True)
    task.fit(data, labels, verbose=0)
    paired = {"packed": None}.get(request.node.callspec.id, "pairs" in request.node.callspec.id)
    assert task.paired == paired
    if paired is None:
        task.features(TEXTS), task.features(PAIRS)
        return
    task.save_pretrained(tmp_path / "task")
    loaded, wrong = kb.load_task(tmp_path / "task"), TEXTS if paired else PAIRS
    assert loaded.processor == task.processor
    loaded.features(PAIRS if paired else TEXTS)
    message = "expected a pair of texts, as in" if paired else "expected one text, as in"
    for call in (loaded.predict, loaded.predictions, loaded.features, lambda x: loaded.score(x, [0, 1])):
        with pytest.raises(KerasBertError, match=message):
            call(wrong)
    loaded.compile(kb.adamw(1e-3), run_eagerly=True)
    with pytest.raises(KerasBertError, match=message):
        loaded.fit(data, labels, validation_data=(wrong, [0, 1]), verbose=0)
    loaded.fit(wrong, [0, 1], verbose=0)  # other training data
    assert loaded.paired is not paired


def test_the_form_of_examples_is_a_setting_of_files():
    for paired in (True, False, None):
        processor = make_processor("regression", ("score",), {} if paired is None else {"paired": paired})
        assert processor.settings() == ({} if paired is None else {"paired": paired})
    for wrong in ("yes", 1, [True]):
        with pytest.raises(KerasBertError, match="expected paired as true or false, received"):
            make_processor("single_label", ("a", "b"), {"paired": wrong})
    with pytest.raises(KerasBertError, match="paired as True, False or None"):
        kb.TextClassifier.from_pretrained("small-en", labels=["a", "b"], paired="yes")
