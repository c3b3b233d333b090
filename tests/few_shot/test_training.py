"""`FewShotClassifier` with the method `trained`: the encoder learns too."""

import numpy as np
import pytest
import tf_keras as keras

import kerasbert as kb
from kerasbert.errors import KerasBertError
from kerasbert.few_shot import training

pytestmark = pytest.mark.one_layer


@pytest.fixture(scope="module", autouse=True)
def quick():
    """The rate of a tiny encoder, whose weights are random."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training, "_RATE", 5e-3)
        yield


@pytest.fixture(scope="module")
def folder(tiny, tmp_path_factory):
    path = tmp_path_factory.mktemp("encoder") / "folder"
    no_dropout = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    tiny.sentence_encoder(sizes=no_dropout).save_pretrained(path)
    return path


@pytest.fixture(scope="module")
def few(tiny, folder):
    texts, labels = tiny.rows(48, seed=2)
    return kb.FewShotClassifier(folder, method="trained", fallback="none").fit(texts, labels)


@pytest.mark.long
def test_training_tells_classes_apart_that_the_encoder_does_not(few, tiny, folder):
    others = tiny.rows(200, seed=3)
    frozen = kb.FewShotClassifier(folder, method="logistic").fit(*tiny.rows(48, seed=2))
    before, after = (each.score(*others)["accuracy"] for each in (frozen, few))
    assert after > max(0.8, before)
    assert few.taught.method == "trained" and set(few.taught.accuracy) == {"centre", "logistic", "trained"}
    assert few.taught.accuracy["trained"] > 0.7


@pytest.mark.long
def test_the_file_predicts_the_same(few, tmp_path):
    opened = kb.open(few.save(tmp_path / "mine.tflite"))
    assert opened.processor.method == "trained"
    assert opened("great film") == few("great film")
    assert few("the end of the film")["label"] in ("none", *few.labels)


@pytest.mark.long
def test_every_fit_begins_with_the_weights_of_the_folder(few, tiny, folder):
    texts, labels = tiny.rows(48, seed=2)
    again = kb.FewShotClassifier(folder, method="trained", fallback="none")
    again.fit(texts[:8], [{"negative": "a", "positive": "b"}[label] for label in labels[:8]])
    again.fit(texts, labels)
    np.testing.assert_allclose(again.predict(texts), few.predict(texts), atol=1e-5)


@pytest.mark.long
def test_a_projection_is_trained(tiny, folder):
    keras.utils.set_random_seed(1)
    encoder = kb.SentenceEncoder.from_pretrained(folder, dimensions=8)
    before = encoder.projection.get_weights()[0]
    texts, labels = tiny.rows(48, seed=2)
    chosen = training.train(encoder, texts, np.array([label == "positive" for label in labels], int), 2)
    assert np.abs(encoder.projection.get_weights()[0] - before).max() > 1e-3
    found = chosen.linear.probabilities(encoder.predict(texts)).argmax(axis=1)
    assert np.mean(found == [label == "positive" for label in labels]) > 0.9


@pytest.mark.long
def test_one_example_of_each_class_is_enough(folder):
    few = kb.FewShotClassifier(folder, method="trained").fit(["good great", "bad awful"], ["up", "down"])
    assert few.taught.accuracy == {} and few("good great")["label"] == "up"
    with pytest.raises(KerasBertError, match="two examples of a class or more to choose the probability"):
        kb.FewShotClassifier(folder, method="trained", fallback="no").fit(["good", "bad"], ["up", "down"])


def test_a_file_cannot_be_trained():
    with pytest.raises(
        KerasBertError, match=r"folder of a sentence encoder to train, such as mini-en, received the file .*search"
    ):
        kb.FewShotClassifier("search", method="trained")
