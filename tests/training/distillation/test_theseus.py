"""Layers of the successor take the place of modules of the predecessor: which ones, how often, and what is trained."""

import numpy as np
import pytest
import tensorflow as tf
import tf_keras as keras

from kerasbert.encoders.replaced_blocks import replaced_blocks
from kerasbert.errors import KerasBertError
from kerasbert.training import RunFolder, TrainConfig, adamw, train
from kerasbert.training.distillation import Replacement, Theseus, student_from
from tests.kills import KillAfter, Killed


@pytest.fixture(scope="module")
def teacher(tiny):
    """Three layers of width 8, no dropout; tests must not change it."""
    sizes = {"hidden_size": 8, "num_hidden_layers": 3, "num_attention_heads": 2, "intermediate_size": 16}
    return tiny.classifier(0, sizes={**sizes, "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0})


def drawn(theseus, replaced, inputs):
    """The logits of a step in which these modules are replaced."""
    blocks = theseus._modules.drawn(tf.constant(replaced))
    with replaced_blocks(theseus.student.encoder, blocks):
        return theseus.student(inputs, training=False).numpy()


def other_layers(student):
    """The student with other weights in its layers."""
    for block in student.encoder.layers:
        for variable in block.trainable_variables:
            variable.assign_add(tf.random.stateless_normal(variable.shape, (1, 2), 0, 0.1))
    return student


def test_a_step_runs_the_layers_that_were_drawn(tiny, teacher, capsys):
    theseus = Theseus(other_layers(student_from(teacher, 2)), teacher)
    assert theseus.modules == ((0,), (1, 2))
    assert "2 layers take the place of 1, 2 layers of the predecessor" in capsys.readouterr().err
    inputs = teacher.pack(["a good film", "so bad"])
    np.testing.assert_allclose(drawn(theseus, [False, False], inputs), teacher(inputs), atol=1e-6)
    np.testing.assert_allclose(drawn(theseus, [True, True], inputs), theseus.student(inputs), atol=1e-6)
    assert np.abs(drawn(theseus, [True, False], inputs) - drawn(theseus, [False, True], inputs)).max() > 1e-3


@pytest.mark.parametrize("name", ["albert", "mobilebert"])
def test_other_architectures_have_modules_too(tiny, name):
    from kerasbert.encoders import AlbertConfig, AlbertEncoder
    from kerasbert.tasks import TextClassifier

    sizes = {**tiny.sizes, "num_hidden_layers": 3, "hidden_size": 8, "num_attention_heads": 2, "intermediate_size": 8}
    if name == "mobilebert":
        teacher = tiny.mobilebert(**{**sizes, "embedding_size": 4, "intra_bottleneck_size": 4})
    else:
        encoder = AlbertEncoder(AlbertConfig(**sizes, embedding_size=4))
        teacher = TextClassifier(encoder, tiny.tokenizer(), labels=tiny.labels, sequence_length=16)
    theseus = Theseus(other_layers(student_from(teacher, 1)), teacher)
    inputs = teacher.pack(["a good film"])
    np.testing.assert_allclose(drawn(theseus, [False], inputs), teacher(inputs), atol=1e-6)
    np.testing.assert_allclose(drawn(theseus, [True], inputs), theseus.student(inputs), atol=1e-6)


@pytest.mark.long
def test_only_the_successors_layers_are_trained(models, teacher):
    student = student_from(teacher, 1)
    fixed = {path: v.numpy() for path, v in student.variables_by_path().items() if ".layers." not in path}
    kernel, before = student.encoder.layers[0].attention.query.kernel, teacher.fingerprint()
    start = kernel.numpy()
    theseus = Theseus(student, teacher, Replacement("constant", rate=0.5, fine_tune_epochs=1))
    assert len(theseus.trainable_variables) == len(student.encoder.layers[0].trainable_variables)
    theseus.compile(adamw(1e-2), run_eagerly=True)
    history = theseus.fit(models.texts, models.labels, epochs=3, batch_size=6, seed=0, verbose=0).history
    assert list(history) == ["loss", "replaced", "accuracy"] and history["replaced"][-1] == 1
    assert 0 < np.mean(history["replaced"][:2]) < 1
    assert np.abs(kernel - start).max() > 0 and teacher.fingerprint() == before
    for path, value in fixed.items():
        np.testing.assert_array_equal(student.variables_by_path()[path], value)
    assert theseus.score(models.texts, models.labels) == student.score(models.texts, models.labels)


def test_draws_follow_the_schedule(teacher):
    theseus = Theseus(student_from(teacher, 2), teacher, Replacement("linear", rate=0.2))
    theseus.compile(adamw(1e-3))
    theseus._steps.assign(100)
    theseus._slope.assign(theseus.replacement.slope_over(100))
    draw = tf.function(theseus._draw)
    for step in (0, 50, 99, 100):
        theseus.optimizer.iterations.assign(step)
        expected = theseus.replacement.rate_at(step, 100)
        assert expected == pytest.approx({0: 0.2, 50: 0.6, 99: 0.992, 100: 1.0}[step])
        found = np.mean([draw().numpy() for _ in range(400)], axis=0)
        np.testing.assert_allclose(found, expected, atol=0.07)  # three standard deviations


def test_epochs_of_fine_tuning():
    assert [Replacement().replacing_epochs(epochs) for epochs in (1, 2, 3, 6, 9)] == [1, 1, 2, 4, 6]
    assert Replacement(slope=0.01, rate=0.0).rate_at(30, 100) == pytest.approx(0.3)
    with pytest.raises(KerasBertError, match="more epochs than the 3 of fine-tuning, received 3"):
        Replacement(fine_tune_epochs=3).replacing_epochs(3)
    with pytest.raises(KerasBertError, match="an epoch of fine-tuning behind a constant replacement rate of 0.5"):
        Replacement("constant").replacing_epochs(1)


@pytest.mark.parametrize(
    "settings, expected",
    [
        ({"rate": 1.2}, "rate of at most 1|rate from 0 to 1"),
        ({"rate": -0.1}, "rate from 0 to 1"),
        ({"kind": "square"}, "linear, constant"),
        ({"kind": "constant", "rate": 0}, "no successor would be trained"),
        ({"kind": "constant", "slope": 0.1}, "a linear replacement rate with a slope"),
        ({"fine_tune_epochs": 1.5}, "a whole number"),
    ],
)
def test_wrong_replacements_are_refused(settings, expected):
    with pytest.raises(KerasBertError, match=expected):
        Replacement(**settings)


def test_wrong_models_are_refused(tiny, teacher):
    for student, expected in (
        (student_from(teacher, 3), "fewer layers than the predecessor's 3, received 3"),
        (student_from(teacher, 1, hidden_size=4), "layers of one width"),
        (tiny.sentence_encoder(), "one task and architecture"),
        (teacher, "received one model as both"),
    ):
        with pytest.raises(KerasBertError, match=expected):
            Theseus(student, teacher)
    with pytest.raises(KerasBertError, match="a Replacement as replacement, received 0.5"):
        Theseus(student_from(teacher, 1), teacher, 0.5)


@pytest.mark.long
def test_resumed_run_equals_unbroken_run(models, teacher, tmp_path):
    from kerasbert.data.dataset import Dataset

    path = tmp_path / "train.tsv"
    path.write_text("".join(f"{a}\t{b}\n" for a, b in zip(models.texts, models.labels, strict=True)))
    table, found = Dataset(path, models.texts, models.labels), []
    settings = TrainConfig(epochs=3, batch_size=6, seed=5, checkpoint_minutes=0)
    for stops in ((None,), (6, None)):
        folder = RunFolder(tmp_path / f"run{len(found)}")
        folder.begin({})
        for stop in stops:
            keras.utils.set_random_seed(9)
            theseus = Theseus(student_from(teacher, 2).with_dropout(0.1), teacher, Replacement("linear", rate=0.3))
            theseus.compile(adamw(3e-3), run_eagerly=True)
            callbacks = [] if stop is None else [KillAfter(stop)]
            try:
                result = train(
                    theseus, table, None, settings, folder, resume=stop is None and len(stops) > 1, callbacks=callbacks
                )
            except Killed:
                continue
        found.append((result.epochs, theseus.student.fingerprint()))
    assert found[0] == found[1]
