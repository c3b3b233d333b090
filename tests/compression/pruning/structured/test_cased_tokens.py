"""Capitals in the vocabulary of an uncased model: equal outputs for lower case, other ones for capitals, one vector a kind of form."""

import numpy as np
import pytest

from kerasbert.compression.pruning.structured import add_cased_tokens
from kerasbert.errors import KerasBertError
from kerasbert.tasks import MaskedLM
from kerasbert.text import WordPiece
from tests.compression.pruning.structured.conftest import ARCHITECTURES, classifier, output

LINES = ["the lamp is lit when the window is dark", "nobody reads at the table without a lamp"]
TABLE = "encoder.embeddings.word.table"


@pytest.fixture(scope="module")
def tokenizer():
    return WordPiece.train(LINES, vocabulary_size=80, min_frequency=1)


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_lower_case_keeps_its_outputs_and_capitals_change_them(tiny, tokenizer, name):
    task = classifier(tiny, name, tokenizer=tokenizer, vocab_size=tokenizer.vocabulary_size)
    cased = add_cased_tokens(task, ["The LAMP"])
    np.testing.assert_allclose(output(cased, LINES), output(task, LINES), atol=1e-6)
    assert np.abs(output(cased, ["The lamp"]) - output(cased, ["the lamp"])).max() > 1e-6
    assert cased.config.vocab_size == cased.tokenizer.vocabulary_size > task.config.vocab_size


def test_forms_of_a_kind_share_their_vector(tiny, tokenizer):
    task = classifier(tiny, tokenizer=tokenizer, vocab_size=tokenizer.vocabulary_size)
    cased = add_cased_tokens(task, ["LAMP"])
    table, ids = (
        cased.variables_by_path()[TABLE].numpy(),
        {token: i for i, token in enumerate(cased.tokenizer.vocabulary)},
    )
    first, other = (table[ids[form]] - table[ids[form.lower()]] for form in ("The", "Window"))
    capitals = table[ids["LAMP"]] - table[ids["lamp"]]
    np.testing.assert_allclose(first, other, atol=1e-6)
    assert np.linalg.norm(first - capitals) > 0.1 * np.linalg.norm(first) > 0


def test_the_decoder_of_a_language_model_grows_with_the_table(tiny, tokenizer):
    task = classifier(tiny, tokenizer=tokenizer, task=MaskedLM, vocab_size=tokenizer.vocabulary_size)
    cased = add_cased_tokens(task)
    assert cased.predict(["the [MASK] is lit"])[0] and add_cased_tokens(task).fingerprint() == cased.fingerprint()


def test_a_task_without_a_tokenizer_or_with_a_cased_one_is_refused(tiny, tokenizer):
    task = classifier(tiny, tokenizer=tokenizer, vocab_size=tokenizer.vocabulary_size)
    with pytest.raises(KerasBertError, match="expected an uncased WordPiece"):
        add_cased_tokens(add_cased_tokens(task))


def test_a_quantized_task_is_refused(quantized):
    with pytest.raises(KerasBertError, match="expected a task in float"):
        add_cased_tokens(quantized)
