"""Features of a dataset are made once, and anew when anything that they depend on has changed."""

from pathlib import Path

import pytest

import kerasbert.data
from kerasbert.data.dataset import Dataset
from kerasbert.processors import make_processor
from kerasbert.text import WordPiece

WORDS = "[PAD] [UNK] [CLS] [SEP] [MASK] a b c d who is".split()


class Counted(WordPiece):
    calls = 0

    def encode(self, texts, *arguments, **options):
        Counted.calls += 1
        return super().encode(texts, *arguments, **options)


@pytest.fixture
def calls():
    """Return the number of calls of a tokenizer since the last question."""

    def since() -> int:
        made, Counted.calls = Counted.calls, 0
        return made

    since()
    return since


def dataset(x, y=None):
    return Dataset(Path("x.tsv"), x, y)


def test_features_are_made_once_for_equal_settings(calls):
    data = dataset((["a b", "c"], ["d", "b c d"]))
    first = data.features(make_processor("single_label", ("x", "y")), Counted(WORDS), 16)
    assert calls() == 1 and first[0] == [("a b", "d"), ("c", "b c d")]
    # Labels, the form that training found and another object of the same tokenizer change nothing.
    again = data.features(make_processor("single_label", ("y", "x"), {"paired": True}), Counted(WORDS), 16)
    assert calls() == 0 and again[1] is first[1]
    data.features(make_processor("multi_label", ("x", "y")), Counted(WORDS), 16)
    data.features(make_processor("single_label"), Counted([*WORDS, "e"]), 16)
    assert calls() == 2
    assert len(data.select([1]).features(make_processor("single_label"), Counted(WORDS), 16)[1]) == 1 and calls() == 1


def test_a_shorter_length_takes_the_same_features_only_if_it_cuts_nothing(calls):
    data, processor, tokenizer = dataset(["a b c d", "a"]), make_processor("single_label"), Counted(WORDS)
    whole = data.features(processor, tokenizer, 128)[1]
    assert data.features(processor, tokenizer, 6)[1] is whole and calls() == 1
    assert data.features(processor, tokenizer, 5)[1].truncated == 1 and calls() == 1
    assert data.features(processor, tokenizer, 4)[1].truncated == 1 and calls() == 1


def test_a_question_that_a_shorter_row_would_cut_is_tokenized_again(calls):
    data, tokenizer = dataset([("who is a", "a b")]), Counted(WORDS)
    answers = make_processor("question_answering")
    whole = data.features(answers, tokenizer, 384)[1]
    assert data.features(answers, tokenizer, 16)[1] is whole
    calls()
    assert data.features(answers, tokenizer, 8)[1].truncated == 1 and calls() == 2


def test_features_follow_examples_that_were_changed_in_place(calls):
    sentences = [["a", "b"], ["c"]]
    data, processor, tokenizer = dataset(sentences), make_processor("tagging", ("O", "B-X")), Counted(WORDS)
    before = data.features(processor, tokenizer, 16)[1]
    sentences[0][1] = "d"
    after = data.features(processor, tokenizer, 16)[1]
    assert calls() == 2 and before.token_lists.input_ids[0] != after.token_lists.input_ids[0]


def test_masks_for_scoring_are_not_the_features_of_training():
    data, processor, tokenizer = dataset(["a b c d", "b c"]), make_processor("masked_lm"), Counted(WORDS)
    plain, masked = (data.features(processor, tokenizer, 16, scoring)[1] for scoring in (False, True))
    assert plain.token_lists.input_ids != masked.token_lists.input_ids
    assert data.features(processor, tokenizer, 16, True)[1] is masked


@pytest.mark.parametrize(
    ("x", "texts", "pairs"),
    [
        (["a", "b"], ["a", "b"], None),
        ((["a"], ["b"]), ["a"], ["b"]),
        ([("a", "b")], ["a"], ["b"]),
        ([["a", "b"]], ["a b"], None),
        ([("a", ("b", "c"))], ["a"], None),
    ],
)
def test_texts_and_pairs_are_columns_of_every_form_of_examples(x, texts, pairs):
    data = dataset(x, ["l"])
    assert (data.texts, data.pairs, data.labels, len(data)) == (texts, pairs, ["l"], len(texts))


def test_the_names_of_earlier_forms_are_the_same_class():
    assert kerasbert.data.Table is kerasbert.data.TextTable is Dataset
