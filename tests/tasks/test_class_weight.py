"""Class weights of `fit` by the names of labels, and containers of examples that `fit` and `predict` do not take."""

import numpy as np
import pytest
import tf_keras as keras

from kerasbert.errors import KerasBertError
from kerasbert.tasks.class_weight import class_weights_by_number
from kerasbert.tasks.inputs import check_containers

pytestmark = pytest.mark.one_layer


@pytest.mark.long
def test_class_weights_by_name_give_the_loss_of_sample_weights(tiny):
    model = tiny.classifier(sizes={"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0})
    model.compile(keras.optimizers.SGD(0.0))
    texts, labels = tiny.rows(6)
    weights = {"negative": 0.5, "positive": 3.0}
    settings = {"batch_size": 6, "seed": 0, "verbose": 0}
    loss = model.fit(texts, labels, sample_weight=[weights[label] for label in labels], **settings).history["loss"]
    assert model.fit(texts, labels, class_weight=weights, **settings).history["loss"] == pytest.approx(loss, rel=1e-5)


@pytest.mark.parametrize(
    ("given", "numbers"),
    [
        ({"positive": 2}, {0: 1.0, 1: 2.0}),
        ({1: 2.0, 0: 3.0}, {0: 3.0, 1: 2.0}),
        ({np.int64(0): np.float32(0.5)}, {0: 0.5, 1: 1.0}),
        ({}, {0: 1.0, 1: 1.0}),
    ],
)
def test_missing_labels_have_the_weight_one(given, numbers):
    assert class_weights_by_number(("negative", "positive"), "single_label", given) == numbers


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"postive": 1}, "expected the labels negative, positive or their numbers in class_weight, received 'postive'"),
        ({2: 1}, "received 2; correct it"),
        ({True: 1}, "received True"),
        ({"positive": -1}, "expected class_weight as numbers of at least 0, received -1 for 'positive'"),
        ({"positive": "2"}, "received '2' for 'positive'"),
        ({"positive": float("nan")}, "received nan"),
        ({"positive": 1, 1: 2}, "expected each label once in class_weight, received 'positive' twice"),
        ("balanced", "expected class_weight as a dict of weights by label, received 'balanced'"),
        ([1.0, 2.0], "expected class_weight as a dict"),
    ],
)
def test_other_class_weights_raise(given, message):
    with pytest.raises(KerasBertError, match=message):
        class_weights_by_number(("negative", "positive"), "single_label", given)


def test_tasks_with_several_classes_an_example_have_no_class_weights():
    for processor in ("multi_label", "regression"):
        with pytest.raises(KerasBertError, match="expected class_weight for a task with one class an example"):
            class_weights_by_number(("score",), processor, {0: 1.0})


class Batches(keras.utils.Sequence):
    def __len__(self):
        return 1

    def __getitem__(self, index):
        return ["good film"], ["positive"]


def test_generators_and_sequences_raise_one_error(tiny):
    model = tiny.narrow()
    model.compile()
    texts, labels = tiny.rows(2)
    for make in (Batches, lambda: (text for text in texts), lambda: iter(texts)):
        for call in (model.fit, model.predict, model.predictions, model.score, model.evaluate):
            with pytest.raises(
                KerasBertError, match=r"expected examples as a list, .* or use tf.data.Dataset.from_generator"
            ):
                call(make())
    with pytest.raises(KerasBertError, match="expected examples as a list"):
        model.fit(texts, labels, validation_data=Batches())
    with pytest.raises(KerasBertError, match="expected labels as a list, .*received a list_iterator"):
        model.fit(texts, iter(labels))
    check_containers(texts, labels)
