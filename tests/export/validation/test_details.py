"""What changed, and each class, as reports tell it."""

import json

import numpy as np
import pytest

from kerasbert.export.reporting.report import write_html
from kerasbert.export.validation.details import MAX_CHANGED, details_of
from kerasbert.export.validation.examples import Examples, RowOutputs
from kerasbert.export.validator import validate
from kerasbert.processors import Features, make_processor
from kerasbert.processors.features import TokenLists

INPUTS = {name: np.ones((1, 4), np.int32) for name in ("input_ids", "attention_mask", "token_type_ids")}


def outputs(raw_result):
    return RowOutputs(raw_result, raw_result, {})


def classified(texts, y, *classes):
    """Examples of three classes, and what two sides say of them."""
    rows = Features(TokenLists([[1]] * len(texts), [[0]] * len(texts)), np.arange(len(texts)))
    problem = make_processor("single_label", ("a", "b", "c"))
    examples = Examples(problem, rows, INPUTS, 10 * np.arange(len(texts)), list(texts), y)
    return examples, *([outputs({"probabilities": np.eye(3)[[c]]}) for c in side] for side in classes)


def test_changed_texts_and_metrics_by_class():
    details = details_of("cpu", *classified(["one", ("two", "too"), "three"], ["a", "b", "b"], (0, 1, 1), (0, 2, 1)))
    (changed,) = details.changed
    assert (changed.row, changed.text, changed.reference, changed.model, changed.label) == (
        10,
        "two | too",
        "b",
        "c",
        "b",
    )
    assert details.confusion.tolist() == [[1, 0, 0], [0, 1, 1], [0, 0, 0]]
    before, after = details.classes["b"]
    assert (before.f1, after.recall, after.precision, after.f1) == (1.0, 0.5, 1.0, pytest.approx(2 / 3))
    assert json.loads(json.dumps(details.as_dict()))["classes"]["c"]["model"] == {
        "precision": 0,
        "recall": 0,
        "f1": 0,
        "true": 0,
    }


def test_at_most_fifty_changed_texts_are_listed():
    details = details_of("cpu", *classified(["x"] * 80, None, [0] * 80, [1] * 80))
    assert len(details.changed) == MAX_CHANGED == 50 and details.changed_count == 80
    assert details.confusion is None and details.classes is None


def test_metrics_by_entity_type():
    problem = make_processor("tagging", ("O", "B-x", "I-x"))
    rows = Features(TokenLists([[1, 2]], [[0, 0]]), np.arange(1))
    truth, found = [["B-x", "I-x"]], [["B-x", "O"]]
    from kerasbert.processors.class_metrics import of_entities, of_tags

    assert of_entities(truth, truth)["x"].f1 == 1 and of_entities(truth, found)["x"].f1 == 0
    assert {name: score.correct for name, score in of_tags(truth, found).items()} == {"B-x": 1, "I-x": 0, "O": 0}
    examples = Examples(problem, rows, INPUTS, np.arange(1), None, [np.array([1, 2])])
    sides = [[outputs({"probabilities": np.eye(3)[numbers]})] for numbers in ([1, 2], [1, 0])]
    details = details_of("cpu", examples, *sides)
    assert [score.f1 for score in details.classes["x"]] == [1.0, 0.0] and details.confusion is None


def test_the_page_lists_changed_texts(float_file, int8_file, helpers, tmp_path):
    rows = helpers.packed_rows(60)
    labels = helpers.run_rows(float_file, rows)["probabilities"].argmax(1)
    report = validate(int8_file, against=float_file, data=(rows, labels))
    page = write_html(tmp_path / "r.html", report).read_text()
    assert "Confusion matrix" in page and "Each class" in page and 'class="right"' in page
    for name in ("kerasbert", "date", "python", "runtime", "cpu"):
        assert f"<dt>{name}</dt>" in page
    assert report.as_dict()["details"]["confusion"]
