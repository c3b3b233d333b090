"""The sequence length that suits some data, as the command and Python choose it."""

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
