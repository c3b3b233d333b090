"""Students without layer norms."""

import numpy as np
import pytest
import tensorflow as tf

import kerasbert as kb
from kerasbert.compression.pruning.structured import prune_feed_forward, prune_heads
from kerasbert.encoders import AlbertConfig, AlbertEncoder, BertConfig, BertEncoder
from kerasbert.errors import KerasBertError
from kerasbert.layers.norms import LayerNorm
from kerasbert.layers.traversal import sublayers
from kerasbert.training.distillation import Distiller, HiddenStates, SoftLabels, no_norm_student


@pytest.fixture(scope="module")
def student(tiny, trained):
    return no_norm_student(trained, 2, tiny.rows(64, seed=1)[0])


def test_student_is_a_mobilebert_without_layer_norms(trained, student):
    assert type(student) is type(trained) and student.config.model_type == "mobilebert"
    assert student.config.hidden_act == "relu" and not sublayers(student, LayerNorm)
    assert student.labels == trained.labels and student.sequence_length == trained.sequence_length


def test_matching_weights_are_copied(trained, student):
    theirs, ours = trained.variables_by_path(), student.variables_by_path()
    assert len(ours) == len(theirs)
    for mine, other in (
        ("encoder.embeddings.word.table", "encoder.embeddings.word.table"),
        ("encoder.layers.1.attention.key.kernel", "encoder.layers.1.attention.key.kernel"),
        ("encoder.layers.1.feed_forwards.0.feed_forward.output_dense.bias", "encoder.layers.1.feed_forward.output_dense.bias"),
        ("classifier.kernel", "classifier.kernel"),
    ):  # fmt: skip
        np.testing.assert_array_equal(ours[mine], theirs[other])


def test_scales_and_shifts_are_the_least_squares_fit(tiny, trained, student):
    """The first norm reads the same in both: its fit is what least squares say."""
    texts = tiny.rows(64, seed=1)[0]
    packed = {name: tf.constant(values) for name, values in trained.pack(texts).items()}
    attended = packed["attention_mask"].numpy().astype(bool)
    out = trained.encoder.embeddings(packed["input_ids"], packed["token_type_ids"]).numpy()[attended]
    ours = student.encoder.embeddings(packed["input_ids"], packed["token_type_ids"]).numpy()[attended]
    errors = np.square(ours - out).mean(0)
    assert (errors < 0.35 * out.var(0) + 1e-6).all()
    norm = student.encoder.embeddings.norm
    for factor in (0.9, 1.1):
        gamma, beta = norm.gamma.numpy(), norm.beta.numpy()
        x = (ours - beta) / gamma
        moved = x * gamma * factor + (ours.mean(0) - (x * gamma * factor).mean(0))
        assert np.square(moved - out).mean() > errors.mean()


@pytest.mark.long
def test_distillation_recovers_the_teacher(tiny, trained):
    texts, labels = tiny.rows(256, seed=2)
    student = no_norm_student(trained, 1, texts[:64], intermediate_size=32)
    distiller = Distiller(student, trained, [SoftLabels(temperature=2.0), HiddenStates()])
    distiller.compile(kb.adamw(3e-3))
    distiller.fit(texts, epochs=3, seed=0, verbose=0)
    test, wanted = tiny.rows(100, seed=3)
    assert student.score(test, wanted)["accuracy"] > 0.8


def test_teacher_other_than_bert_is_refused(tiny):
    config = AlbertConfig(**tiny.sizes, embedding_size=16)
    teacher = kb.TextClassifier(
        AlbertEncoder(config), tiny.tokenizer(), labels=tiny.labels, sequence_length=tiny.length
    )
    with pytest.raises(KerasBertError, match="BERT as teacher.*albert"):
        no_norm_student(teacher, 1, ["good film"])


@pytest.mark.long
def test_pruned_sizes_are_kept(tiny, trained):
    teacher = prune_feed_forward(prune_heads(trained, heads={1: [0, 2, 3]}), widths=[64, 8], data=tiny.rows(8))
    student = no_norm_student(teacher, [1], tiny.rows(16)[0])
    assert student.encoder.cut.to_dict() == {"heads": [1]} and student.config.intermediate_size == 8
    kept = teacher.encoder.layers[1].attention
    np.testing.assert_array_equal(student.encoder.layers[0].attention.value.kernel, kept.value.kernel)
    assert student.predict(tiny.rows(3)[0]).shape == (3, 2)


def test_adapters_are_refused(tiny):
    encoder = BertEncoder(BertConfig(**tiny.sizes), adapters=2)
    teacher = kb.TextClassifier(encoder, tiny.tokenizer(), labels=tiny.labels, sequence_length=8)
    with pytest.raises(KerasBertError, match="without adapters and a mix of layers, received one with adapters"):
        no_norm_student(teacher, 1, ["good film"])
