"""Padding of token ids to rectangular encoder inputs."""

import types

import numpy as np
import pytest

from kerasbert.errors import KerasBertError
from kerasbert.text import WordPiece, pack

TOKENIZER = WordPiece(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b"])


def test_pairs_padded_to_a_length():
    inputs = pack(TOKENIZER.encode(["a", "a b"], ["b b", "a"], max_length=8), length=8)
    assert {name: value.dtype for name, value in inputs.items()} == {
        "input_ids": np.int32,
        "attention_mask": np.int32,
        "token_type_ids": np.int32,
    }
    assert inputs["input_ids"].tolist() == [[2, 5, 3, 6, 6, 3, 0, 0], [2, 5, 6, 3, 5, 3, 0, 0]]
    assert inputs["attention_mask"].tolist() == [[1] * 6 + [0] * 2] * 2
    assert inputs["token_type_ids"].tolist() == [[0, 0, 0, 1, 1, 1, 0, 0], [0, 0, 0, 0, 1, 1, 0, 0]]


@pytest.mark.parametrize(("multiple_of", "length"), [(1, 5), (4, 8), (5, 5)])
def test_longest_sequence_rounded_up(multiple_of, length):
    inputs = pack(TOKENIZER.encode(["a", "a b a"], max_length=8), multiple_of=multiple_of)
    assert {value.shape for value in inputs.values()} == {(2, length)}
    assert inputs["attention_mask"].sum(axis=1).tolist() == [3, 5]


def test_padding_id_is_used_for_ids_only():
    inputs = pack(TOKENIZER.encode(["a"], max_length=8), length=5, pad_id=9)
    assert inputs["input_ids"].tolist() == [[2, 5, 3, 9, 9]]
    assert inputs["token_type_ids"].tolist() == [[0] * 5]


def test_sequences_of_another_object():
    rows = types.SimpleNamespace(input_ids=[[2, 5, 3], [2, 3]], token_type_ids=[[0, 1, 0], [1, 1]])
    inputs = pack(rows, length=4)
    assert inputs["input_ids"].tolist() == [[2, 5, 3, 0], [2, 3, 0, 0]]
    assert inputs["token_type_ids"].tolist() == [[0, 1, 0, 0], [1, 1, 0, 0]]


def test_packed_types_equal_token_type_ids():
    encoded = TOKENIZER.encode(["a", "a b", ""], ["b b", "", "a"], max_length=8)
    packed = pack(encoded)
    kept = [
        row[:length].tolist() for row, length in zip(packed["token_type_ids"], map(len, encoded.input_ids), strict=True)
    ]
    assert kept == encoded.token_type_ids


def test_an_empty_batch():
    assert {value.shape for value in pack(TOKENIZER.encode([], max_length=8), length=8).values()} == {(0, 8)}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"length": 4}, "at most 4 tokens, received sequence 1 with 5.*max_length=4"),
        ({"length": 0}, "length of at least 1, received 0"),
        ({"multiple_of": 0}, "multiple_of of at least 1, received 0"),
    ],
)
def test_invalid_arguments_raise(arguments, message):
    with pytest.raises(KerasBertError, match=message):
        pack(TOKENIZER.encode(["a", "a b a"], max_length=8), **arguments)
