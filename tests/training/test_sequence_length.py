"""The sequence length that suits some data, as the command and Python choose it."""

import re
from pathlib import Path

import pytest

import kerasbert as kb
from kerasbert.data.dataset import Dataset
from kerasbert.processors import make_processor


@pytest.mark.parametrize(
    ("words", "options", "tokens", "reason"),
    [
        (17, {}, 32, "the longest of 2 training texts has 19 tokens"),
        (17, {"limit": 24}, 24, "the longest of 2 training texts has 19 tokens"),
        (17, {"length": 19}, 19, "the longest of 2 training texts has 19 tokens"),
        (17, {"length": 8}, 8, "1 of 2 training texts are longer and were truncated"),
        (500, {}, 128, "1 of 2 training texts are longer and were truncated"),
    ],
)
def test_the_length_is_that_of_the_longest_example_within_limits(tiny, words, options, tokens, reason):
    data = Dataset(Path("train.tsv"), ["good", "good " * words])
    chosen = kb.training.choose_length(data, make_processor("single_label", tiny.labels), tiny.tokenizer(), **options)
    assert (chosen.tokens, chosen.reason) == (tokens, reason)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"data": ["good"]}, "expected a kerasbert Dataset to choose a length, received list"),
        ({"processor": "single_label"}, "expected a kerasbert Processor"),
        ({"tokenizer": None}, "expected a kerasbert Tokenizer"),
        ({"length": "16"}, "expected length of at least 2, received '16'; pass a whole number"),
        ({"length": 0}, "expected length of at least 2, received 0; raise it"),
        ({"length": 64, "limit": 16}, "expected length from 2 to 16, received 64; lower it"),
        ({"limit": True}, "expected limit of at least 2, received True; pass a whole number"),
    ],
)
def test_other_arguments_are_refused(tiny, changed, message):
    arguments = {
        "data": Dataset(Path("train.tsv"), ["good"]),
        "processor": make_processor("single_label", tiny.labels),
        "tokenizer": tiny.tokenizer(),
    }
    with pytest.raises(kb.KerasBertError, match=re.escape(message)):
        kb.training.choose_length(**{**arguments, **changed})
