"""Students made of a teacher's layers."""

import numpy as np
import pytest

from kerasbert.compression.pruning.structured import prune_feed_forward, prune_heads
from kerasbert.encoders import AlbertConfig, AlbertEncoder
from kerasbert.errors import KerasBertError
from kerasbert.tasks import SentenceEncoder, TextClassifier
from kerasbert.training.distillation import student_from


@pytest.fixture(scope="module")
def deep(tiny):
    return tiny.classifier(3, sizes={"num_hidden_layers": 4, "hidden_size": 8, "intermediate_size": 8})


def layers_of(student, teacher) -> list[int]:
    """Which of the teacher's layers each of the student's is."""
    kernels = [layer.attention.query.kernel.numpy() for layer in teacher.encoder.layers]
    return [
        next(i for i, kernel in enumerate(kernels) if np.array_equal(kernel, layer.attention.query.kernel))
        for layer in student.encoder.layers
    ]


@pytest.mark.parametrize(
    "layers, strategy, expected",
    [(2, "alternate", [0, 2]), (3, "first", [0, 1, 2]), (2, "last", [2, 3]), ([3, 0], "alternate", [3, 0])],
)
@pytest.mark.long_cases
def test_chosen_layers_are_copied(deep, layers, strategy, expected, capsys):
    student = student_from(deep, layers, strategy)
    assert layers_of(student, deep) == expected and capsys.readouterr().err == ""
    assert isinstance(student, TextClassifier) and student.labels == deep.labels
    np.testing.assert_array_equal(student.classifier.kernel, deep.classifier.kernel)
    student.classifier.kernel.assign_add(np.ones(student.classifier.kernel.shape))
    assert not np.array_equal(student.classifier.kernel, deep.classifier.kernel)  # a copy


@pytest.mark.long
def test_student_with_all_layers_equals_the_teacher(deep, tiny):
    texts = tiny.rows(4)[0]
    np.testing.assert_allclose(student_from(deep, 4).predict(texts), deep.predict(texts), atol=1e-6)


def test_config_changes_reinitialize_weights_of_other_shapes(deep, capsys):
    student = student_from(deep, 1, hidden_act="relu", intermediate_size=16, sequence_length=8)
    assert (student.config.hidden_act, student.config.intermediate_size, student.sequence_length) == ("relu", 16, 8)
    said = capsys.readouterr().err
    assert "encoder.layers.*.feed_forward.intermediate.kernel" in said and "attention" not in said


def test_albert_student_has_fewer_calls(tiny):
    sizes = {**tiny.sizes, "embedding_size": 8, "hidden_size": 8, "num_hidden_layers": 4}
    teacher = SentenceEncoder(AlbertEncoder(AlbertConfig(**sizes)), tiny.tokenizer(), sequence_length=12)
    student = student_from(teacher, 2)
    assert len(list(student.encoder.stack())) == 2 and student.fingerprint() == teacher.fingerprint()
    with pytest.raises(KerasBertError, match="a number of layers of AlbertEncoder"):
        student_from(teacher, [0, 2])


@pytest.mark.long
def test_layers_with_pruned_heads_keep_their_sizes(deep, tiny):
    teacher = prune_heads(deep, heads={0: [1], 2: [0, 1, 2]})
    student = student_from(teacher, [2, 3])
    assert [layer.attention.heads for layer in student.encoder.layers] == [1, 4]
    assert layers_of(student_from(teacher, 4), teacher) == [0, 1, 2, 3]
    assert student.predict(tiny.rows(2)[0]).shape == (2, 2)
    assert student_from(teacher, [1, 3]).encoder.cut is None  # those are whole
    assert student_from(teacher, [2, 3], num_attention_heads=2).encoder.cut is None


@pytest.mark.long
def test_pruned_networks_keep_their_widths(deep, tiny):
    teacher = prune_feed_forward(deep, widths=[8, 4, 4, 6], data=tiny.rows(4))
    student = student_from(teacher, [1, 2])
    assert student.encoder.cut is None and student.config.intermediate_size == 4  # the config has words for it
    kernels = [block.feed_forward.intermediate.kernel for block in student.encoder.layers]
    for kernel, layer in zip(kernels, teacher.encoder.layers[1:3], strict=True):
        np.testing.assert_array_equal(kernel, layer.feed_forward.intermediate.kernel)
    assert student_from(teacher, [0, 3]).encoder.cut.intermediate == (8, 6)
    assert student_from(teacher, [0, 3], intermediate_size=16).encoder.cut is None


@pytest.mark.parametrize(
    "layers, options, expected",
    [
        (5, {}, "from 1 to 4 layers"),
        ([0, 4], {}, "from 0 to 3"),
        ([], {}, "from 0 to 3"),
        ("two", {}, "a number or a list"),
        (2, {"strategy": "middle"}, "alternate, first, last"),
        (2, {"hidden_activation": "relu"}, "values of BertConfig .* received 'hidden_activation'"),
        (2, {"num_attention_heads": 3}, "num_attention_heads"),
    ],
)
def test_invalid_arguments_are_refused(deep, layers, options, expected):
    with pytest.raises(KerasBertError, match=expected):
        student_from(deep, layers, **options)
