"""Prompts with choices, without a model."""

import numpy as np
import pytest

from kerasbert.errors import KerasBertError
from kerasbert.processors import Features, make_processor

PROCESSOR = make_processor("multiple_choice")
EXAMPLES = [("the film was", ["good", "so very bad"]), {"question": "it is", "choices": ("a", "b", "c")}]


@pytest.fixture
def tokenizer(tiny):
    return tiny.tokenizer()


def test_a_row_has_a_list_for_each_choice(tokenizer):
    examples = PROCESSOR.examples(EXAMPLES)
    assert examples == [("the film was", ("good", "so very bad")), ("it is", ("a", "b", "c"))]
    features = PROCESSOR.features(examples, tokenizer, 16)
    assert (len(features), features.group, features.truncated) == (2, 3, 0)
    encoded = tokenizer.encode(["the film was"] * 2, ["good", "so very bad"], max_length=16)
    assert features.tokens.input_ids[:3] == [*encoded.input_ids, []]
    assert features.tokens.token_type_ids[:3] == [*encoded.token_type_ids, []]
    assert features.pack([0, 1], 12, 0)["attention_mask"].sum(axis=2).tolist() == [[7, 9, 0], [6, 6, 6]]


def test_truncated_examples_are_counted_once(tokenizer):
    examples = PROCESSOR.examples([("it " * 9, ["a", "b"]), ("it " * 4, ["a", "b"]), ("it " * 3, ["a"])])
    features = PROCESSOR.features(examples, tokenizer, 8)
    assert features.truncated == 1 and max(map(len, features.tokens.input_ids)) == 8


@pytest.mark.parametrize("y", [[1, 2], ["so very bad", "c"], ["B", "c"], ["1", "2"], np.array([1, 2])])
def test_labels_are_numbers_texts_or_letters(tokenizer, y):
    examples = PROCESSOR.examples(EXAMPLES)
    targets = PROCESSOR.encode_labels(y, examples, PROCESSOR.features(examples, tokenizer, 16))
    assert targets.tolist() == [1, 2] and targets.dtype == np.int32


def test_a_label_is_read_as_a_text_before_a_letter():
    examples = PROCESSOR.examples([("which letter follows A", ["C", "A", "B"])])
    assert PROCESSOR.encode_labels(["B"], examples, Features(None, np.arange(1), 3)).tolist() == [2]


def test_text_that_is_a_choice_and_the_number_of_another_is_an_error():
    examples = PROCESSOR.examples([("how many", ["2", "1", "0"])])
    with pytest.raises(KerasBertError, match="row 0: .*received '2', the text of choice 0 and the number of another"):
        PROCESSOR.encode_labels(["2"], examples, Features(None, np.arange(1), 3))
    for label, number in (("1", 1), (2, 2)):
        assert PROCESSOR.encode_labels([label], examples, Features(None, np.arange(1), 3)).tolist() == [number]


def test_padded_choices_are_ignored(tokenizer):
    examples = PROCESSOR.examples(EXAMPLES)
    features = PROCESSOR.features(examples, tokenizer, 16)
    logits = np.array([[[0.0], [1.0], [9.0]], [[2.0], [0.0], [0.0]]], np.float32)
    raw_results = [PROCESSOR.raw_result({"logits": logits[row]}, features, row) for row in range(2)]
    assert [reading["logits"].shape for reading in raw_results] == [(2, 1), (3, 1)]
    np.testing.assert_allclose(
        PROCESSOR.comparable({"logits": logits[0]}, features, 0)["logits"],
        [[1 / (1 + np.e), np.e / (1 + np.e)]],
        rtol=1e-5,
    )
    first, second = PROCESSOR.predictions(examples, features, raw_results)
    assert (first["choice"], first["text"], second["choice"]) == (1, "so very bad", 0)
    assert first["probabilities"] == pytest.approx([1 / (1 + np.e), np.e / (1 + np.e)])
    assert PROCESSOR.metrics(["B", "c"], examples, features, raw_results) == {"accuracy": 0.5}


@pytest.mark.parametrize(
    ("example", "told"),
    [
        (("prompt", []), "row 1: .*choices"),
        (("prompt", "choices"), "row 1: .*list of choices"),
        (("prompt", ["a", 3]), "row 1: .*int"),
        ({"choices": ["a"]}, "row 1: .*prompt"),
        ({"prompt": "p"}, "row 1: .*choices"),
        ("prompt", "row 1: .*prompt"),
    ],
)
def test_examples_without_prompt_or_choices_are_rejected(example, told):
    with pytest.raises(KerasBertError, match=told):
        PROCESSOR.examples([EXAMPLES[0], example])


@pytest.mark.parametrize(
    ("value", "told"),
    [(2, "0 to 1"), (-1, "0 to 1"), ("C", "0 to 1"), ("worst", "worst"), (None, "none"), ("", "none"), (True, "True"), (0.5, "0.5")],
)  # fmt: skip
def test_labels_that_are_no_choice_are_rejected(tokenizer, value, told):
    examples = PROCESSOR.examples([EXAMPLES[1], EXAMPLES[0]])
    with pytest.raises(KerasBertError, match=f"row 1: .*{told}"):
        PROCESSOR.encode_labels([0, value], examples, PROCESSOR.features(examples, tokenizer, 16))
    with pytest.raises(KerasBertError, match=f"row 1: .*{told}"):
        PROCESSOR.check_labels([0, value], examples)
    with pytest.raises(KerasBertError, match="1 for 2"):
        PROCESSOR.encode_labels([0], examples, PROCESSOR.features(examples, tokenizer, 16))
