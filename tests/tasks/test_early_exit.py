"""Tasks with exits: what they learn, where rows end, thresholds, folders, and wrong arguments."""

import numpy as np
import pytest
import tensorflow as tf

import kerasbert as kb
from kerasbert.errors import KerasBertError
from kerasbert.processors import make_processor
from kerasbert.processors.exits import choose, ends_at
from kerasbert.processors.labelled_outputs import LabelledOutputs


@pytest.fixture(scope="module")
def deep(tiny):
    """A classifier of three layers with exits behind two, and its outputs at each; random weights."""
    model = tiny.classifier(sizes={"num_hidden_layers": 3}, exits=[1, 2])
    for path, variable in model.variables_by_path().items():
        if "classifier.kernel" in path:  # probabilities that differ from row to row
            variable.assign(variable * 20)
    return model


@pytest.fixture(scope="module")
def packed(deep, tiny):
    return deep.pack(tiny.rows(24, seed=2)[0])


def test_exits_learn_and_leave_the_encoder_as_it_is(deep, packed):
    inputs = {name: tf.constant(values) for name, values in packed.items()}
    with tf.GradientTape() as tape:
        deep(inputs, training=True)
        loss = tf.add_n(deep.losses)
    variables = deep.variables_by_path()
    gradients = dict(zip(variables, tape.gradient(loss, list(variables.values())), strict=True))
    reached = {path for path, gradient in gradients.items() if gradient is not None}
    assert reached == {path for path in variables if path.startswith("exits.")}
    assert len(reached) == 8


def test_a_trained_model_gets_exits_and_stays_as_it_is(tiny, tmp_path, capsys):
    from kerasbert.training import TrainConfig
    from kerasbert.training.preparation import freeze_parts
    from kerasbert.training.recommended import settled

    tiny.classifier(sizes={"num_hidden_layers": 2}).save_pretrained(tmp_path / "whole")
    model = kb.TextClassifier.from_pretrained(tmp_path / "whole", exits=[1])
    assert (model.has_new_head, model.has_new_exits) == (False, True)
    config, lines = settled(TrainConfig(), model, 100)
    assert config.rates == {"exits": 5e-3}
    assert "of the new exits" in lines[1]
    freeze_parts(model, config)
    assert "only the new exits are trained" in capsys.readouterr().err
    trained = {id(variable) for variable in model.trainable_variables}
    paths = {path for path, variable in model.variables_by_path().items() if id(variable) in trained}
    assert paths == {path for path in model.variables_by_path() if path.startswith("exits.")}


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
@pytest.mark.long_cases
def test_rows_end_at_the_first_confident_exit(deep, packed, share):
    inputs = {name: tf.constant(values) for name, values in packed.items()}
    exits = [{name: values.numpy() for name, values in each.items()} for each in deep.serve_exits(inputs)]
    confidences = np.stack([each["confidence"] for each in exits])
    threshold = {0.0: 0.0, 1.0: 1.0}.get(share, float(np.median(confidences[:2])))
    expected = ends_at(confidences.copy(), threshold)
    deep.exit_threshold = threshold
    try:
        served = deep.serve(inputs)
        predictions = deep.predictions(["good film", "the book was dull"])
    finally:
        deep.exit_threshold = None
    assert len(set(expected)) == (3 if share == 0.5 else 1)
    np.testing.assert_array_equal(served["layers"], expected + 1)
    for row, number in enumerate(expected):
        np.testing.assert_allclose(served["probabilities"][row], exits[number]["probabilities"][row], atol=1e-6)
    assert {each["layers"] for each in predictions} <= {1, 2, 3}


@pytest.mark.long
def test_without_a_threshold_all_layers_run(deep, packed, tiny):
    plain = tiny.classifier(sizes={"num_hidden_layers": 3})
    for path, variable in plain.variables_by_path().items():
        variable.assign(deep.variables_by_path()[path])
    np.testing.assert_allclose(deep.predict(packed), plain.predict(packed), atol=1e-6)


@pytest.mark.long
def test_folders_keep_exits_and_other_exits_are_new(deep, packed, tmp_path, capsys):
    deep.exit_threshold = 0.6
    try:
        deep.save_pretrained(tmp_path / "deep")
        before = deep.predict(packed)
    finally:
        deep.exit_threshold = None
    loaded = kb.load_task(tmp_path / "deep")
    assert (loaded.exit_layers, loaded.exit_threshold) == ((1, 2, 3), 0.6)
    np.testing.assert_allclose(loaded.predict(packed), before, atol=1e-6)
    other = kb.TextClassifier.from_pretrained(tmp_path / "deep", exits=[1])
    assert (other.exit_layers, other.exit_threshold) == ((1, 3), None)
    assert "its exits after layer 2 left out" in capsys.readouterr().err
    plain = kb.TextClassifier.from_pretrained(tmp_path / "deep", exits=[])
    assert plain.exit_layers == ()
    assert not [path for path in plain.variables_by_path() if path.startswith("exits")]


def test_the_threshold_is_the_lowest_that_keeps_the_share():
    labels = ("no", "yes")
    y, rows = np.arange(100) % 2, 100
    # The first exit is right on its 60 most confident rows only, the last one on all.
    right = np.where(np.arange(rows) < 60, y, 1 - y)
    confidences = np.stack([1.0 - np.arange(rows) / 250, np.ones(rows)])
    raw = [[{"probabilities": np.eye(2)[[label]]} for label in side] for side in (right, y)]
    processor = make_processor("single_label", labels)
    labelled = LabelledOutputs(y, range(rows), None, [])
    whole, half = (choose(processor, labelled, raw, confidences, (2, 6), keep) for keep in (1.0, 0.9))
    assert [each.share for each in whole.exits] == [0.6, 0.4]
    assert (whole.score, whole.whole, whole.layers) == (1.0, 1.0, pytest.approx(0.6 * 2 + 0.4 * 6))
    assert half.score == pytest.approx(0.9)
    assert half.threshold < whole.threshold
    with pytest.raises(KerasBertError, match="expected `keep=` as a number above 0 and at most 1, received 0"):
        choose(processor, labelled, raw, confidences, (2, 6), 0)


def test_a_tagger_is_as_confident_as_its_least_certain_token(tiny):
    import tf_keras as keras

    keras.utils.set_random_seed(0)
    tagger = kb.TokenTagger(tiny.encoder(num_hidden_layers=2), tiny.tokenizer(), ["O", "B-x", "I-x"], 16, exits=[1])
    inputs = tagger.pack(["good film", "bad book was very cold"])
    first = tagger.serve_exits(inputs)[0]
    best = first["probabilities"].numpy().max(axis=-1)
    expected = [row[mask > 0].min() for row, mask in zip(best, inputs["attention_mask"], strict=True)]
    np.testing.assert_allclose(first["confidence"], expected, atol=1e-6)
    tagger.exit_threshold = 0.0
    assert tagger.predict(["good film"])[0]["layers"] == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"exits": [0]}, "expected `exits=` as numbers of layers from 1 to 2, received \\[0\\]; name layers"),
        ({"exits": [4]}, "from 1 to 2"),
        ({"exits": "1,2"}, "from 1 to 2, received '1,2'"),
        ({"exits": [True]}, "from 1 to 2"),
        ({"exits": [1, 1]}, r"rising numbers of layers, received \[1, 1\]; name each once"),
        ({"exits": [2, 1]}, "rising numbers"),
        ({"exits": [3]}, "a layer before the last one"),
        ({"exits": [1], "exit_threshold": 1.5}, "expected exit_threshold as a number from 0 to 1, received 1.5"),
        ({"exits": [1], "exit_threshold": "high"}, "received 'high'"),
        ({"exit_threshold": 0.5}, "expected a model with exits for a threshold"),
        ({"exits": [1], "problem": "regression", "labels": None}, "expected a task with classes"),
        ({"exits": [1], "sizes": {"num_hidden_layers": 1}}, "expected a model of two or more layers"),
    ],
)  # fmt: skip
@pytest.mark.long_cases
def test_wrong_exits_are_refused(tiny, arguments, message):
    arguments = {"sizes": {"num_hidden_layers": 3}, **arguments}
    with pytest.raises(KerasBertError, match=message):
        tiny.classifier(**arguments)
