"""Training a SentenceEncoder on pairs: losses against NumPy, and what `fit` chooses."""

import numpy as np
import pytest
import tensorflow as tf
import tf_keras as keras

import kerasbert as kb
from kerasbert.errors import KerasBertError
from kerasbert.losses.pairs import SentenceLoss
from kerasbert.training import ContrastiveLoss, CosineLoss, InBatchNegatives

pytestmark = pytest.mark.one_layer

SIZES = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}


@pytest.fixture
def model(tiny):
    return tiny.sentence_encoder(sizes=SIZES)


def compiled(model, loss=None, rate=0.01):
    model.compile(kb.adamw(rate), loss=loss, run_eagerly=True)
    return model


@pytest.fixture
def pairs(tiny):
    return tiny.rows(6)[0], tiny.rows(6, seed=1)[0]


@pytest.fixture
def vectors():
    return np.random.default_rng(0).normal(size=(4, 2, 8)).astype(np.float32)


def cosines(first, second):
    return first @ second.T / np.linalg.norm(first, axis=1)[:, None] / np.linalg.norm(second, axis=1)


def choosing(logits):
    """Cross-entropy of each row's own column."""
    return np.log(np.exp(logits).sum(1)) - np.diag(logits)


def test_cosine_loss(vectors):
    own, scores = np.diag(cosines(vectors[:, 0], vectors[:, 1])), np.array([0.0, 5.0, 2.5, 1.0], np.float32)
    wanted = (own - scores / 5) ** 2
    np.testing.assert_allclose(CosineLoss(scores=(0, 5))(scores, vectors), wanted.mean(), rtol=1e-5)
    weights = np.array([1.0, 0.0, 2.0, 1.0])
    found = CosineLoss(scores=(0, 5))(scores[:, None], vectors, sample_weight=weights)
    np.testing.assert_allclose(found, (weights * wanted).mean(), rtol=1e-5)
    found = CosineLoss(scores=(0, 5), cosines=(-1, 1))(scores, vectors)
    np.testing.assert_allclose(found, ((own - (2 * scores / 5 - 1)) ** 2).mean(), rtol=1e-5)


def test_contrastive_loss(vectors):
    alike = np.array([1.0, 0.0, 1.0, 0.0], np.float32)
    distance = 1 - np.diag(cosines(vectors[:, 0], vectors[:, 1]))
    wanted = 0.5 * np.where(alike == 1, distance**2, np.maximum(1.5 - distance, 0) ** 2)
    np.testing.assert_allclose(ContrastiveLoss(margin=1.5)(alike, vectors), wanted.mean(), rtol=1e-5)


@pytest.mark.parametrize("symmetric", [False, True])
def test_in_batch_negatives(vectors, symmetric):
    logits = 20 * cosines(vectors[:, 0], vectors[:, 1]).astype(float)
    wanted = (choosing(logits) + choosing(logits.T)) / 2 if symmetric else choosing(logits)
    numbers = np.arange(8, dtype=np.int32).reshape(4, 2)
    loss = InBatchNegatives(symmetric=symmetric)
    np.testing.assert_allclose(loss(numbers, vectors), wanted.mean(), rtol=1e-5)
    weights = np.array([0.0, 1.0, 3.0, 0.0])
    np.testing.assert_allclose(loss(numbers, vectors, sample_weight=weights), (wanted * weights).mean(), rtol=1e-5)


def test_equal_texts_are_no_negatives(vectors):
    logits = cosines(vectors[:, 0], vectors[:, 1]).astype(float)
    # Rows 0 and 1 have the same second text, 0 and 2 the same first one; the second text of 3 is the first one of 1.
    numbers = np.array([[0, 1], [2, 1], [0, 3], [4, 2]], np.int32)
    for i, j in ((0, 1), (1, 0), (0, 2), (2, 0), (1, 3)):
        logits[i, j] = -1e9
    np.testing.assert_allclose(InBatchNegatives(scale=1)(numbers, vectors), choosing(logits).mean(), rtol=1e-5)
    np.testing.assert_allclose(InBatchNegatives(scale=1, symmetric=True)(numbers, vectors),
                               (choosing(logits) + choosing(logits.T)).mean() / 2, rtol=1e-5)  # fmt: skip


def test_losses_in_half_precision(vectors):
    half, numbers = tf.cast(vectors, tf.float16), np.arange(8, dtype=np.int32).reshape(4, 2)
    for loss, y in ((CosineLoss(), np.ones(4)), (ContrastiveLoss(), np.ones(4)), (InBatchNegatives(), numbers)):
        found = loss(y, half)
        assert found.dtype == tf.float32
        np.testing.assert_allclose(found, loss(y, np.asarray(half, np.float32)), rtol=1e-5)


@pytest.mark.long
def test_the_default_loss_depends_on_the_labels(model, pairs):
    """Scores: cosine loss. None: in-batch negatives. Vectors for single texts: the mean squared error."""
    compiled(model, rate=0.0)
    scores, numbers = np.linspace(0, 1, 6), np.arange(12, dtype=np.int32).reshape(6, 2)
    both = np.stack([model.predict(side) for side in pairs], 1)
    target = np.ones((6, 8), np.float32)
    wanted = {
        CosineLoss(): ((pairs, scores), scores, both),
        InBatchNegatives(): ((pairs,), numbers, both),
        keras.losses.MeanSquaredError(): ((pairs[0], target), target, both[:, 0]),
    }
    for loss, (given, y, vectors) in wanted.items():
        found = model.evaluate(*given, verbose=0)  # without dropout
        np.testing.assert_allclose(found, loss(y, vectors), rtol=1e-4)
        assert np.isfinite(model.fit(*given, verbose=0).history["loss"][0])


@pytest.mark.long_cases
@pytest.mark.parametrize("given", ["scores", "pairs", "packed"])
def test_similar_pairs_come_closer(model, pairs, given):
    compiled(model, rate=0.05)
    x = pairs
    if given == "packed":
        sides = [model.pack(side) for side in pairs]
        x = {name: np.stack([side[name] for side in sides], 1) for name in sides[0]}
    arguments = (x, np.repeat([0.0, 1.0], 3)) if given == "scores" else (x,)
    history = model.fit(*arguments, epochs=8, seed=0, verbose=0).history["loss"]
    assert np.mean(history[-2:]) < 0.7 * np.mean(history[:2])


def test_equal_texts_get_equal_numbers(model):
    compiled(model)
    x = (["the film", "a book", "The  film"], ["good", "the film", "bad"])
    (_, numbers), = list(model.dataset(x))  # fmt: skip
    lines = {tuple(line) for line in numbers.numpy().tolist()}
    assert len({line[0] for line in lines} & {line[1] for line in lines}) == 1  # "the film" on both sides
    assert len(np.unique(numbers)) == 4


@pytest.mark.long
def test_a_table_of_pairs(model, pairs, tmp_path):
    from kerasbert.data.dataset import Dataset

    compiled(model)
    model.fit(Dataset(tmp_path / "pairs.tsv", list(zip(*pairs, strict=True)), None), verbose=0)
    model.fit(Dataset(tmp_path / "pairs.tsv", list(zip(*pairs, strict=True)), [0.5] * 6), verbose=0)
    assert int(model.optimizer.iterations) == 2


@pytest.mark.parametrize(
    ("loss", "y", "told"),
    [
        (None, [0, 1, 0, 5, 1, 0], "row 3: expected a score from 0 to 1, received 5; compile with loss=CosineLoss"),
        (CosineLoss(scores=(0, 5)), [0, 1, -2, 5, 1, 0], "row 2: expected a score from 0 to 5"),
        (CosineLoss(), None, "scores of the pairs for CosineLoss, received none"),
        (ContrastiveLoss(), [0, 1, 0.5, 1, 1, 0], "row 2: expected 1 for a similar pair, else 0, received 0.5"),
        (InBatchNegatives(), [1] * 6, "without scores, for InBatchNegatives"),
        ("mse", None, "expected a loss over pairs of vectors, received MeanSquaredError"),
    ],
)
def test_data_that_do_not_fit_the_loss_are_rejected(model, pairs, loss, y, told):
    with pytest.raises(KerasBertError, match=told):
        compiled(model, loss).fit(pairs, y, verbose=0)


def test_single_texts_are_rejected_by_pair_losses(model, pairs):
    with pytest.raises(KerasBertError, match="pairs of texts for CosineLoss, received single texts"):
        compiled(model, CosineLoss()).fit(pairs[0], np.ones((6, 8)), verbose=0)
    with pytest.raises(KerasBertError, match="expected labels"):
        compiled(model).fit(pairs[0], verbose=0)


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: CosineLoss(scores=(5, 0)), "lowest, highest"),
        (lambda: CosineLoss(scores=5), "lowest, highest"),
        (lambda: ContrastiveLoss(margin=0), "margin above 0"),
        (lambda: InBatchNegatives(scale=0), "scale above 0"),
    ],
)
def test_wrong_loss_settings_are_rejected(make, told):
    with pytest.raises(KerasBertError, match=told):
        make()


@pytest.mark.parametrize(
    "loss", [CosineLoss((0, 5), (-1, 1)), ContrastiveLoss(0.7), InBatchNegatives(10, True), SentenceLoss()]
)
def test_losses_survive_serializing(loss):
    copy = keras.losses.deserialize(keras.losses.serialize(loss))
    assert type(copy) is type(loss) and copy.get_config() == loss.get_config()


@pytest.mark.long
def test_a_saved_model_keeps_its_loss(model, pairs, tmp_path):
    compiled(model, InBatchNegatives(scale=5, symmetric=True))
    model.fit(pairs, verbose=0)
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    assert loaded.loss.get_config() == model.loss.get_config()
    assert int(loaded.optimizer.iterations) == 1
    np.testing.assert_allclose(loaded.evaluate(pairs, verbose=0), model.evaluate(pairs, verbose=0), rtol=1e-4)
