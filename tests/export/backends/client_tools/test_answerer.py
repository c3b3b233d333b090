"""Answers of the Task Library's question answerer against a model's own, on made-up logits."""

import numpy as np

from kerasbert.export.backends.client_tools.answerer import answerer_checks
from kerasbert.export.backends.client_tools.calls import CLIENTS, ClientAnswers
from kerasbert.export.backends.client_tools.tokenization import RowsApart
from kerasbert.export.validation.checks import FAILED, NOT_RUN, PASSED
from kerasbert.export.validation.context import ValidationContext
from kerasbert.export.validation.data import Data
from kerasbert.export.validation.examples import text_examples
from kerasbert.export.validation.tolerances import TOLERANCES
from kerasbert.processors import make_processor
from kerasbert.text import WordPiece

CLIENT = CLIENTS["task-library"]
CONTEXT = "we saw a film-good: it was (very) good"
WORDS = "who we saw a film it was very good : ( )".split()
LENGTH = 24


def context_of(questions: list[tuple[str, str]], spans: list[tuple[int, int]], y=None) -> ValidationContext:
    """A context whose model points to these tokens of each context, first and last."""
    tokenizer = WordPiece(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS])
    examples = text_examples(Data(questions, y), make_processor("question_answering"), tokenizer, LENGTH, None)
    outputs = []
    for row, window in enumerate(examples.features.alignment):
        logits = np.random.default_rng(row).normal(size=(2, 1, LENGTH)).astype(np.float32)
        for side, token in enumerate(spans[examples.features.example[row]]):
            logits[side, 0, window.begin + token] = 9.0
        outputs.append(examples.extract({"start_logits": logits[0], "end_logits": logits[1]}, row))
    return ValidationContext(
        file=None, model=None, reference=None, data=None, examples=examples, expected=outputs, recipe="float32",
        tolerance=TOLERANCES["float32"],
    )  # fmt: skip


def apart(context: ValidationContext, *other: int) -> RowsApart:
    rows = np.arange(len(context.examples.raw))
    return RowsApart(np.setdiff1d(rows, other), np.array(other, int), rows, {row: f"'row {row}'" for row in other})


def test_answers_are_widened_to_white_space():
    # Tokens: we saw a film - good : it was ( very ) good. The model's answers are "film" and "very".
    right = [(CONTEXT.index(word), word) for word in ("film", "very")]
    context = context_of([("who saw", CONTEXT), ("who", CONTEXT)], [(3, 3), (10, 10)], right)
    alike, every = answerer_checks(CLIENT, context, apart(context), ClientAnswers(["film-good:", "(very)"], [1.0, 2.0]))
    assert (alike.name, alike.status, alike.reason) == (
        "task-library: tokenized alike",
        PASSED,
        "2 of 2 answers are equal",
    )
    assert every.name == "task-library: all rows" and {m.name: m.model for m in every.metrics}["exact match"] == 0.5


def test_different_answers_fail_in_their_own_check():
    context = context_of([("who saw", CONTEXT)] * 3, [(3, 3), (3, 5), (10, 10)])
    checks = answerer_checks(
        CLIENT, context, apart(context, 1, 2), ClientAnswers(["film-good:", "film-good:", "we"], [1.0] * 3)
    )
    assert [(check.name, check.status, check.rows) for check in checks] == [
        ("task-library: tokenized alike", PASSED, 1),
        ("task-library: tokenized otherwise", FAILED, 2),
    ]
    assert (
        checks[1].reason.startswith("1 of 2 answers are equal, less than 0.98") and "row 1 'row 1'" in checks[1].reason
    )
    assert checks[1].named_rows == {1: "'row 1'", 2: "'row 2'"}


def test_only_questions_with_one_row_count():
    long = " ".join(["it was good"] * 12)
    context = context_of([("who saw", CONTEXT), ("who saw", long)], [(3, 3), (0, 0)])
    (check,) = answerer_checks(CLIENT, context, apart(context, 1), ClientAnswers(["film-good:", "other"], [1.0] * 2))
    assert (check.status, check.rows, check.named_rows) == (PASSED, 1, {})
    context = context_of([("who saw", long)], [(0, 0)])
    (check,) = answerer_checks(CLIENT, context, apart(context), ClientAnswers(["it"], [1.0]))
    assert check.status == NOT_RUN and "no question whose context fits" in check.reason
