"""A training that ends at chance says so."""

from pathlib import Path

import numpy as np
import pytest

import kerasbert as kb
from kerasbert.data.dataset import Dataset
from kerasbert.training import TrainConfig
from kerasbert.training.chance import Chance, compare_with_chance


def compared(task, x, y):
    return compare_with_chance(task.processor, task.labelled_outputs(Dataset(Path("dev.tsv"), x, y)))


def test_a_constant_classifier_is_at_chance(tiny):
    task = tiny.narrow()
    task.classifier.bias.assign([0, 9])
    texts, labels = tiny.rows(50)
    share = np.mean([label == "positive" for label in labels])
    found = compared(task, texts, labels)
    assert found is not None and found.at_chance and found.value == pytest.approx(share)
    assert found.answer == max(labels, key=labels.count) and found.chance == pytest.approx(max(share, 1 - share))


def test_a_trained_classifier_is_not_at_chance(tiny, trained):
    found = compared(trained, *tiny.rows(50, seed=5))
    assert found is not None and not found.at_chance and found.warning("accuracy", TrainConfig(), trained) is None


def test_a_tagger_without_entities_is_at_chance(tiny):
    task = kb.TokenTagger(
        tiny.encoder(pooler=False), tiny.tokenizer(), labels=["O", "B-X"], sequence_length=tiny.length
    )
    task.token_classifier.bias.assign([9, 0])
    found = compared(task, [["good", "film"], ["the", "end"]], [["B-X", "O"], ["O", "O"]])
    assert found is not None and found.at_chance and found.value == found.chance == 0


def test_a_constant_regression_is_at_chance(tiny):
    task = tiny.narrow(labels=None, problem="regression")
    task.classifier.kernel.assign(0 * task.classifier.kernel)
    found = compared(task, tiny.rows(4)[0], [1.0, 2.0, 3.0, 0.5])
    assert found is not None and found.at_chance and found.value == 0


@pytest.mark.parametrize(
    ("config", "advice"),
    [
        (TrainConfig(learning_rate=5e-5, epochs=2), "try --learning-rate 0.0005, recommended for hidden size 8"),
        (TrainConfig(learning_rate=5e-4, epochs=2), "try --epochs 6, or check the labels"),
        (TrainConfig(learning_rate=5e-4, epochs=20), "try --learning-rate 0.0001, or check the labels"),
    ],
)
def test_the_warning_names_the_next_step(tiny, config, advice):
    line = Chance(0.2857, 0.22, "weather", True).warning("accuracy", config, tiny.narrow())
    assert line == (
        "warning: dev accuracy 0.2857 is no better than the 0.2200 of always answering 'weather': the model has learned nothing that "
        f"counts here; {advice}"
    )


def test_no_answer_to_every_question_is_chance(tiny):
    task = kb.QuestionAnswerer(
        tiny.encoder(pooler=False), tiny.tokenizer(), sequence_length=tiny.length, no_answer=True
    )
    task.no_answer_threshold = -1e6
    found = compared(task, [("the film", "it was very good"), ("the end", "it was bad")], [(12, "good"), None])
    assert found is not None and found.value == found.chance == 0.5 and found.at_chance and found.answer == "no answer"
