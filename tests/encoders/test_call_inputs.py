"""Wrong inputs of an encoder are errors of one line."""

import numpy as np
import pytest
import tensorflow as tf

from kerasbert.errors import KerasBertError

IDS = np.array([[2, 3]], np.int32)


@pytest.fixture(scope="module")
def encoder(tiny):
    return tiny.encoder(hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16)


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ([1, 2, 3], r"input_ids of shape \(batch, length\), received \(3,\); put the ids of one text into a list"),
        (IDS[None], r"input_ids of shape \(batch, length\), received \(1, 1, 2\)"),
        ([[1, 2], [3]], "received rows of different lengths or other values; pad them"),
        ("a text", "input_ids as whole numbers, received string"),
        (["a text"], "input_ids as whole numbers, received string"),
        ([[1.5, 2.0]], "input_ids as whole numbers, received float32"),
        ({"attention_mask": IDS}, "expected input_ids among the inputs, received attention_mask"),
        (None, "expected input_ids among the inputs, received none"),
        ({"input_ids": IDS, "attention_mask": [[1]]}, r"attention_mask of the shape of input_ids, \(1, 2\), received \(1, 1\)"),
        ({"input_ids": IDS, "token_type_ids": [0, 1]}, r"token_type_ids of the shape of input_ids, \(1, 2\), received \(2,\)"),
        (np.ones((1, 33), np.int32), r"at most 32 tokens \(the positions of this model\), received 33"),
        (np.array([[40]], np.int32), "input_ids from 0 to 39"),
    ],
)  # fmt: skip
def test_wrong_inputs_are_errors_of_one_line(encoder, inputs, message):
    with pytest.raises(KerasBertError, match=message) as caught:
        encoder(inputs)
    text = str(caught.value)
    assert "\n" not in text and text.startswith("expected ") and "Exception encountered" not in text


def test_lengths_are_checked_in_a_graph(encoder):
    call = tf.function(lambda ids: encoder(ids).sequence, autograph=False)
    assert call(tf.ones((2, 32), tf.int32)).shape == (2, 32, 8)
    with pytest.raises(KerasBertError, match="at most 32 tokens"):
        call(tf.ones((2, 33), tf.int32))


def test_masks_may_be_boolean(encoder):
    boolean = encoder({"input_ids": IDS, "attention_mask": IDS > 2}).sequence
    np.testing.assert_array_equal(boolean, encoder({"input_ids": IDS, "attention_mask": [[0, 1]]}).sequence)
