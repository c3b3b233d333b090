"""The vocabulary of another model: equal outputs where both have the tokens, and what cannot be matched."""

import numpy as np
import pytest

from kerasbert.compression.pruning.structured import add_cased_tokens, match_vocabulary, trim_vocabulary
from kerasbert.errors import KerasBertError
from kerasbert.tasks import MaskedLM
from kerasbert.text import ByteLevelBPE, WordPiece
from tests.compression.pruning.structured.conftest import assert_equal_weights, classifier, output

LINES = ["the lamp is lit when the window is dark", "nobody reads at the table without a lamp"]
TABLE = "encoder.embeddings.word.table"


@pytest.fixture(scope="module")
def tokenizer():
    return WordPiece.train(LINES, vocabulary_size=80, min_frequency=1)


def _task(tiny, tokenizer, name="bert", **settings):
    return classifier(tiny, name, tokenizer=tokenizer, vocab_size=tokenizer.vocabulary_size, **settings)


@pytest.mark.parametrize("name", ["bert", "albert", "mobilebert"])
def test_texts_of_common_tokens_keep_their_outputs(tiny, tokenizer, name):
    task = _task(tiny, tokenizer, name)
    student = trim_vocabulary(task, LINES[:1])
    matched = match_vocabulary(task, student.tokenizer)
    assert matched.tokenizer.vocabulary == student.tokenizer.vocabulary != tokenizer.vocabulary
    assert matched.config.vocab_size == student.tokenizer.vocabulary_size < task.config.vocab_size
    np.testing.assert_allclose(output(matched, LINES[:1]), output(task, LINES[:1]), atol=1e-6)


def test_tokens_may_stand_in_another_order(tiny, tokenizer):
    task = _task(tiny, tokenizer)
    other = WordPiece([*reversed(tokenizer.vocabulary)])
    matched = match_vocabulary(task, other)
    assert matched.config.pad_token_id == other.pad_id != task.config.pad_token_id
    np.testing.assert_allclose(output(matched, LINES), output(task, LINES), atol=1e-6)


def test_a_student_with_capitals_gives_its_teacher_the_same_forms(tiny, tokenizer):
    teacher = _task(tiny, tokenizer)
    student = add_cased_tokens(trim_vocabulary(teacher, LINES[:1]), ["The LAMP"])
    matched = match_vocabulary(teacher, student.tokenizer)
    assert matched.tokenizer.vocabulary == student.tokenizer.vocabulary and not matched.tokenizer.lowercase
    assert_equal_weights(matched, student)  # both took the same rows, and the same vector for each kind of form


def test_the_decoder_of_a_language_model_follows_the_table(tiny, tokenizer):
    task = _task(tiny, tokenizer, task=MaskedLM)
    matched = match_vocabulary(task, WordPiece([*reversed(tokenizer.vocabulary)]))
    (one,), (other,) = (each.predict(["the [MASK] is lit"])[0]["masks"] for each in (matched, task))
    assert [each["word"] for each in one["words"]] == [each["word"] for each in other["words"]]


def test_a_token_that_the_model_lacks_is_refused(tiny, tokenizer):
    with pytest.raises(KerasBertError, match=r"the model has, received 2 that it lacks \('zebra', 'Zebra'\)"):
        match_vocabulary(_task(tiny, tokenizer), WordPiece([*tokenizer.vocabulary, "zebra", "Zebra"]))


def test_another_kind_of_tokenizer_is_refused(tiny, tokenizer):
    task = _task(tiny, tokenizer)
    with pytest.raises(KerasBertError, match="expected a WordPiece tokenizer to match, received a ByteLevelBPE"):
        match_vocabulary(task, ByteLevelBPE.train(LINES, vocabulary_size=300))
    with pytest.raises(KerasBertError, match="expected a WordPiece tokenizer to match, received none"):
        match_vocabulary(task, None)


def test_positions_that_are_counted_from_padding_keep_its_id(tiny, tokenizer):
    task = _task(tiny, tokenizer, "roberta")
    with pytest.raises(KerasBertError, match="as the id of padding, from which this model counts positions"):
        match_vocabulary(task, WordPiece([*reversed(tokenizer.vocabulary)]))


def test_a_quantized_task_is_refused(quantized):
    with pytest.raises(KerasBertError, match="expected a task in float"):
        match_vocabulary(quantized, quantized.tokenizer)
