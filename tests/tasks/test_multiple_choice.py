"""Multiple choice on prompts and choices."""

import numpy as np
import pytest
import tf_keras as keras

import kerasbert as kb
from kerasbert.errors import KerasBertError

pytestmark = pytest.mark.one_layer

GOOD, BAD, PROMPTS = ("good", "fine", "great"), ("bad", "poor", "awful", "dull"), ("the film", "a book", "it")


@pytest.fixture
def task(tiny):
    keras.utils.set_random_seed(0)
    return kb.MultipleChoice(tiny.encoder(num_hidden_layers=1), tiny.tokenizer(), 16)


def questions(count, seed=0):
    """Two to four choices, of which one is a good word."""
    draw = np.random.default_rng(seed)
    examples, labels = [], []
    for _ in range(count):
        choices = list(draw.choice(BAD, draw.integers(1, 4)))
        labels.append(int(draw.integers(len(choices) + 1)))
        choices.insert(labels[-1], str(draw.choice(GOOD)))
        examples.append((str(draw.choice(PROMPTS)), [str(choice) for choice in choices]))
    return examples, labels


@pytest.mark.long
def test_it_learns_which_choice_is_right(task):
    task.compile(kb.adamw(1e-2))
    examples, labels = questions(64)
    history = task.fit(examples, labels, batch_size=16, epochs=4, seed=0, verbose=0).history
    assert history["loss"][-1] < history["loss"][0]
    held, truth = questions(32, seed=1)
    assert task.score(held, truth)["accuracy"] > 0.9
    answers = task.predict(held)
    assert [len(answer["probabilities"]) for answer in answers] == [len(choices) for _, choices in held]
    assert all(sum(answer["probabilities"]) == pytest.approx(1, abs=1e-5) for answer in answers)
    assert all(answer["text"] == choices[answer["choice"]] for answer, (_, choices) in zip(answers, held, strict=True))


def test_the_batch_does_not_change_a_prediction(task):
    examples = [("the film", ["good", "bad"]), ("it is", ["a", "we", "so very much of it", "end"])]
    together = task.predict(examples)
    for example, answer in zip(examples, together, strict=True):
        assert task.predict([example])[0]["probabilities"] == pytest.approx(answer["probabilities"], abs=1e-5)


def test_padded_choices_do_not_change_the_loss(task):
    task.compile(run_eagerly=True)
    examples, labels = [("the film", ["good", "bad"]), ("it", ["a", "we", "so", "end"])], ["bad", 0]
    found = task.evaluate(examples, labels, verbose=0, return_dict=True)
    answers = task.predict(examples)
    expected = -np.mean(np.log([answers[0]["probabilities"][1], answers[1]["probabilities"][0]]))
    assert found["loss"] == pytest.approx(expected, rel=1e-4)


@pytest.mark.long
def test_packed_inputs(task):
    _, rows = task.features([("the film", ["good", "bad"]), ("it", ["a", "we"])])
    packed = rows.pack([0, 1], 16, 0)
    assert task.predict(packed).shape == (2, 2)
    task.compile(run_eagerly=True)
    assert np.isfinite(task.fit(packed, [0, 1], verbose=0).history["loss"][0])
    with pytest.raises(KerasBertError, match="0 to 1"):
        task.fit(packed, [0, 2])


def test_user_mistakes_are_reported(task):
    task.compile(run_eagerly=True)
    for call in (task.predict, lambda x: task.fit(x, [0])):
        with pytest.raises(KerasBertError, match="row 0: .*choices"):
            call([("the film", [])])
    with pytest.raises(KerasBertError, match="labels"):
        task.score([("the film", ["a"])])
    with pytest.raises(KerasBertError, match="row 0: .*0 to 0"):
        task.fit([("the film", ["a"])], [1])
