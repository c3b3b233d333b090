"""Reading a model while it is called."""

import numpy as np
import tensorflow as tf

from kerasbert.capture import capture, captured
from kerasbert.training.distillation.forward_features import forward_features


def test_tensors_are_captured_only_within_the_context():
    capture("a", 0)
    with captured() as outer:
        capture("a", 1)
        with captured() as inner:
            capture("b", 2)
        capture("a", 3)
    capture("a", 4)
    assert (outer, inner) == ({"a": [1, 3], "b": [2]}, {"b": [2]})


def test_forward_features_match_the_model(models):
    teacher, inputs = models.teacher, models.teacher.pack(["a good film", "so bad and dull"], length=8)
    seen = forward_features(teacher, inputs, training=False)
    encoded = teacher.encoder(inputs, output_hidden_states=True, output_attentions=True)
    for ours, theirs in ((seen.hidden_states, encoded.hidden_states), (seen.attentions, encoded.attentions)):
        for one, other in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(one, other, atol=1e-6)
    np.testing.assert_allclose(seen.outputs, teacher(inputs), atol=1e-6)
    query, key, _ = seen.qkv[1]
    scores = tf.matmul(query, key, transpose_b=True) - 1e4 * (1 - seen.mask[:, None, None, :])
    np.testing.assert_allclose(tf.nn.softmax(scores), seen.attentions[1], atol=1e-5)
    assert seen.mask.numpy().sum(1).tolist() == [5, 6]
    assert forward_features(teacher, inputs, training=False, outputs=False).outputs is None
