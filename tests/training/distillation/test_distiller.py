"""A student learns, the teacher does not; what is refused, and what is resumed."""

import numpy as np
import pytest
import tf_keras as keras

from kerasbert.data.dataset import Dataset
from kerasbert.errors import KerasBertError
from kerasbert.tasks.auto import load_task
from kerasbert.text import WordPiece
from kerasbert.training import RunFolder, TrainConfig, adamw, freeze, train
from kerasbert.training.distillation import (
    AttentionRelations,
    CosineHidden,
    Distiller,
    HiddenStates,
    PatientStates,
    SoftLabels,
    progressive_stages,
)
from tests.kills import KillAfter, Killed


@pytest.fixture
def smaller_words(tiny):
    """A tokenizer with the same words in another order."""
    return WordPiece((*tiny.vocabulary[:5], *reversed(tiny.vocabulary[5:])))


@pytest.mark.long
def test_student_learns_and_teacher_stays_unchanged(models, fit, tmp_path):
    student, before = models.student(hidden_size=8), models.teacher.fingerprint()
    distiller = Distiller(student, models.teacher, [SoftLabels(2.0), HiddenStates({0: 1})], label_weight=0.5)
    history = fit(distiller, models.texts, models.labels, epochs=2, batch_size=12)
    assert list(history) == ["loss", "label_loss", "soft_labels", "hidden", "accuracy"]
    assert history["hidden"][-1] < history["hidden"][0]
    sums = 0.5 * np.array(history["label_loss"]) + np.array(history["soft_labels"]) + np.array(history["hidden"])
    np.testing.assert_allclose(history["loss"], sums, rtol=1e-4)
    assert models.teacher.fingerprint() == before
    assert len(distiller.trainable_variables) == len(student.trainable_variables) + 2
    start = Distiller(models.student(hidden_size=8), models.teacher, [HiddenStates({0: 1})]).projections
    assert all(np.abs(a.kernel - b.kernel).max() > 0 for a, b in zip(distiller.projections, start, strict=True))
    distiller.save_pretrained(tmp_path / "student")
    assert (
        load_task(tmp_path / "student").fingerprint()
        == student.fingerprint()
        != models.student(hidden_size=8).fingerprint()
    )


@pytest.mark.long
def test_traced_step_equals_eager_step(models):
    found = []
    for eager in (True, False):
        student, teacher = (models.student(seed, hidden_size=8, intermediate_size=8) for seed in (1, 2))
        objectives = [SoftLabels(2.0), AttentionRelations()]
        distiller = Distiller(student, teacher, objectives, label_weight=1.0)
        distiller.compile(adamw(1e-3), run_eagerly=eager)
        history = distiller.fit(models.texts, models.labels, batch_size=24, seed=0, verbose=0).history
        found.append([history[name][0] for name in ("loss", "soft_labels", "relations")])
    np.testing.assert_allclose(found[0], found[1], rtol=1e-4)


@pytest.mark.long
def test_student_learns_without_labels(models, fit):
    student = models.student()
    head = student.classifier.kernel.numpy()
    history = fit(
        Distiller(student, models.teacher, [CosineHidden()]), models.texts, epochs=2, validation_data=models.texts
    )
    assert history["cosine"][1] < history["cosine"][0] and "val_cosine" in history
    np.testing.assert_array_equal(student.classifier.kernel, head)  # nothing reaches it
    with pytest.raises(KerasBertError, match="label_weight=0"):
        fit(Distiller(student, models.teacher, [CosineHidden()], label_weight=1.0), models.texts)


@pytest.mark.long
def test_learning_rates_and_freezing_apply_to_the_student(models):
    student = models.student(hidden_size=8)
    freeze(student, "embeddings")
    distiller = Distiller(student, models.teacher, [HiddenStates({0: 1})])
    frozen, still = (student.encoder.embeddings.word.table, student.encoder.layers[0].attention.query.kernel)
    before = [frozen.numpy(), still.numpy(), distiller.projections[0].kernel.numpy()]
    distiller.compile(adamw(1e-2, rates={"layers.*": 0, "projections.*": 1e-2}), run_eagerly=True)
    distiller.fit(models.texts[:8], seed=0, verbose=0)
    np.testing.assert_array_equal(frozen, before[0])
    np.testing.assert_array_equal(still, before[1])
    assert np.abs(distiller.projections[0].kernel - before[2]).max() > 0


@pytest.mark.long
def test_teacher_may_have_another_vocabulary(tiny, models, smaller_words, fit):
    from kerasbert.tasks import TextClassifier

    teacher = TextClassifier(tiny.encoder(hidden_size=16), smaller_words, labels=tiny.labels, sequence_length=24)
    student = models.student(num_hidden_layers=2)
    distiller = Distiller(student, teacher, [SoftLabels(), PatientStates()], label_weight=0.5)
    data = distiller.dataset(models.texts, models.labels, 4)
    (inputs, targets), *_ = data
    texts = [smaller_words.vocabulary[i] for i in inputs["teacher"]["input_ids"][0].numpy()]
    assert texts == [tiny.vocabulary[i] for i in inputs["student"]["input_ids"][0].numpy()]
    assert fit(distiller, models.texts, models.labels)["patient"][0] > 0
    with pytest.raises(KerasBertError, match="one vocabulary of student and teacher for HiddenStates"):
        Distiller(student, teacher, [SoftLabels(), HiddenStates()])
    with pytest.raises(KerasBertError, match="received packed inputs"):
        fit(distiller, student.pack(models.texts), np.zeros(24, int))


@pytest.mark.long
def test_invalid_arguments_are_refused_before_training(tiny, models):
    student, teacher = models.student(), models.teacher
    for objectives, options, expected in (
        ([], {}, "one or more"),
        (SoftLabels(), {}, "as a list"),
        ([SoftLabels(weight=0)], {"label_weight": 0}, "nothing would be learned"),
        ([SoftLabels()], {"label_weight": -1}, "label_weight of at least 0"),
        ([SoftLabels()], {"cache_type": "int8"}, "float32, float16"),
    ):
        with pytest.raises(KerasBertError, match=expected):
            Distiller(student, teacher, objectives, **options)
    with pytest.raises(KerasBertError, match="student's labels in their order"):
        Distiller(tiny.narrow(labels=("positive", "negative")), teacher, [SoftLabels()])
    with pytest.raises(KerasBertError, match="a teacher of the student's kind"):
        Distiller(tiny.sentence_encoder(), teacher, [SoftLabels()])
    with pytest.raises(KerasBertError, match="reads the student's 16 tokens"):
        Distiller(student, tiny.classifier(sizes={"max_position_embeddings": 12}, sequence_length=12), [SoftLabels()])
    with pytest.raises(KerasBertError, match="received one model as both"):
        Distiller(teacher, teacher, [SoftLabels()])


@pytest.mark.long
def test_resumed_run_equals_unbroken_run(tiny, models, tmp_path):
    path = tmp_path / "train.tsv"
    path.write_text("".join(f"{a}\t{b}\n" for a, b in zip(models.texts, models.labels, strict=True)))
    table, found = Dataset(path, models.texts, models.labels), []
    settings, teacher = TrainConfig(epochs=2, batch_size=12, seed=5, checkpoint_minutes=0), models.student(3)
    for stops in ((), (3, None)):
        folder = RunFolder(tmp_path / f"run{len(found)}")
        folder.begin({})
        for stop in stops or (None,):
            keras.utils.set_random_seed(9)
            distiller = Distiller(tiny.narrow(2), teacher, [HiddenStates(), SoftLabels()], label_weight=1.0)
            distiller.compile(adamw(3e-3), run_eagerly=True)
            callbacks = (KillAfter(stop),) if stop else ()
            try:
                fitted = train(
                    distiller, table, None, settings, folder, resume=stop is None and bool(stops), callbacks=callbacks
                )
            except Killed:
                continue
        found.append((fitted, distiller))
    (whole, one), (resumed, other) = found
    assert resumed.epochs == whole.epochs
    for a, b in zip(one.weights, other.weights, strict=True):
        np.testing.assert_array_equal(a, b)
    assert load_task(tmp_path / "run1").fingerprint() == other.student.fingerprint()


@pytest.mark.long
def test_progress_shows_task_metric_before_objective_losses(models, tmp_path, told):
    distiller = Distiller(models.student(), models.teacher, [SoftLabels()], label_weight=0.5)
    distiller.compile(adamw(3e-3), run_eagerly=True)
    path = tmp_path / "train.tsv"
    path.write_text("texts")
    folder = RunFolder(tmp_path / "run")
    folder.begin({"teacher": "x"})
    train(
        distiller,
        Dataset(path, models.texts, models.labels),
        None,
        TrainConfig(epochs=1, batch_size=24),
        folder,
        progress=told,
    )
    assert [figure.split()[0] for figure in told.steps[-1][-1][:4]] == ["loss", "accuracy", "label_loss", "soft_labels"]


@pytest.mark.long
def test_progressive_stages_train_one_layer_each(models):
    student, teacher = models.student(num_hidden_layers=2), models.teacher
    distiller = Distiller(student, teacher, [HiddenStates("last", embeddings=False)])
    moved = []
    for stage in progressive_stages(distiller, rate=1e-2):
        layers = [layer.feed_forward.output_dense.kernel for layer in student.encoder.layers]
        before = [kernel.numpy() for kernel in layers]
        assert distiller.objectives[0].active_pairs() == {stage.layer: stage.layer}
        distiller.compile(adamw(1e-2, rates=stage.rates), run_eagerly=True)
        distiller.fit(models.texts[:8], seed=0, verbose=0)
        moved.append([bool(np.abs(kernel - old).max() > 0) for kernel, old in zip(layers, before, strict=True)])
    assert moved == [[True, False], [False, True]]
    assert distiller.objectives[0].active_pairs() == {0: 0, 1: 1}
    with pytest.raises(KerasBertError, match="expected an objective of layers .*, received SoftLabels; add one"):
        progressive_stages(Distiller(student, teacher, [SoftLabels()]), 1e-3)
