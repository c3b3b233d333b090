"""Every task as a student, and architectures that differ from the teacher's."""

import numpy as np
import pytest

from kerasbert import encoders, tasks
from kerasbert.errors import KerasBertError
from kerasbert.training.distillation import AttentionRelations, Distiller, HiddenStates, SoftLabels
from kerasbert.training.distillation.forward_features import forward_features

pytestmark = pytest.mark.one_layer

SMALL = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8}


def make(tiny, kind: str, width: int, **settings):
    encoder = tiny.encoder(**{**SMALL, "hidden_size": width})
    return getattr(tasks, kind)(encoder, tiny.tokenizer(), sequence_length=16, **settings)


CASES = {
    "TokenTagger": (["a good film".split(), "so bad".split()], [["O", "B", "O"], ["O", "B"]], {"labels": ["O", "B"]}),
    "QuestionAnswerer": (
        [("was it good", "the film was lovely"), ("is it", "a book")],
        [{"text": ["lovely"], "answer_start": [13]}, {"text": [], "answer_start": []}],
        {},
    ),
    "MultipleChoice": ([("the film was", ["good", "bad"]), ("the book was", ["a song", "dull"])], [0, 1], {}),
    "NextSentencePredictor": ([("a film", "it was good"), ("a book", "so bad")], ["next", "not next"], {}),
    "MaskedLM": (["the film was very good", "a book"], None, {}),
    "SentenceEncoder": ((["a film", "a book"], ["a song", "it was bad"]), [0.5, 1.0], {}),
    "TextClassifier": (["good film", "bad"], [[1, 0], [1, 1]], {"labels": ["a", "b"], "problem": "multi_label"}),
}


@pytest.mark.long_cases("TokenTagger", "TextClassifier", "MaskedLM", "NextSentence")
@pytest.mark.parametrize("kind", CASES)
def test_every_task_can_be_distilled(tiny, fit, kind, tmp_path):
    x, y, settings = CASES[kind]
    width = 8 if kind == "SentenceEncoder" else 16  # of whose vectors the widths are one
    teacher = make(tiny, kind, width, **settings)
    if kind == "QuestionAnswerer":
        teacher.no_answer, teacher.no_answer_threshold = True, 1.5
    student = make(tiny, kind, 8, **settings)
    objectives = [SoftLabels(2.0), HiddenStates(), AttentionRelations(relation_heads=2)]
    live = fit(Distiller(student, teacher, objectives, label_weight=0.5), x, y)
    assert np.isfinite(list(live.values())).all() and live["soft_labels"][0] > 0
    if kind == "QuestionAnswerer":
        assert student.no_answer is True and student.no_answer_threshold == 1.5
    if kind in (
        "QuestionAnswerer",
        "MultipleChoice",
        "SentenceEncoder",
    ):  # several outputs, and several token lists a row
        cached = Distiller(make(tiny, kind, 8, **settings), teacher, objectives, label_weight=0.5, cache=tmp_path)
        assert np.isfinite(list(fit(cached, x, y).values())).all()


@pytest.mark.parametrize(
    "kind, sizes",
    [
        ("albert", {"embedding_size": 8, "num_hidden_layers": 3, "type_vocab_size": 2}),
        (
            "mobilebert",
            {"embedding_size": 8, "intra_bottleneck_size": 8, "num_feedforward_networks": 2, "num_hidden_layers": 3},
        ),
        ("distilbert", {"num_hidden_layers": 3}),
    ],
)
@pytest.mark.long_cases
def test_teacher_may_have_another_architecture(tiny, fit, kind, sizes):
    encoder = encoders.encoder_class(kind)
    config = encoder.config_class(**{**tiny.sizes, **SMALL, "hidden_size": 16, **sizes})
    teacher = tasks.SentenceEncoder(encoder(config), tiny.tokenizer(), sequence_length=16)
    seen = forward_features(teacher, teacher.pack(["a good film"]), training=False)
    assert [len(found) for found in (seen.hidden_states, seen.attentions, seen.qkv)] == [4, 3, 3]
    np.testing.assert_allclose(
        seen.hidden_states[-1],
        teacher.encoder(teacher.pack(["a good film"]), output_hidden_states=True).hidden_states[-1],
        atol=1e-5,
    )
    student = make(tiny, "TextClassifier", 8, labels=["a", "b"])
    distiller = Distiller(student, teacher, [HiddenStates("uniform"), AttentionRelations(relation_heads=2)])
    assert np.isfinite(list(fit(distiller, ["a good film", "so bad"]).values())).all()


def test_vectors_of_one_width_are_compared(tiny):
    encoder = encoders.BertEncoder(encoders.BertConfig(**{**tiny.sizes, **SMALL, "hidden_size": 16}))
    teacher = tasks.SentenceEncoder(encoder, tiny.tokenizer(), sequence_length=16, dimensions=4)
    student = make(tiny, "SentenceEncoder", 8, dimensions=4)
    assert SoftLabels().bind_copy(student, teacher).soft_loss == "squared_error"
    with pytest.raises(KerasBertError, match="vectors of one width for SoftLabels, received 8 and 4"):
        SoftLabels().bind_copy(make(tiny, "SentenceEncoder", 8), teacher)
