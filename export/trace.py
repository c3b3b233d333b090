"""A trained task traced once more for its target, as a float `.tflite`. Needs TensorFlow."""

import tempfile

import tensorflow as tf

from kerasbert.encoders.base import INPUT_NAMES, activation_points, sublayers
from kerasbert.export.quiet import quiet
from kerasbert.export.targets import Target
from kerasbert.layers.attention import SelfAttention
from kerasbert.layers.embeddings import EmbeddingTable

SIGNATURE = "serve"


def export_twin(task):
    """A float copy of the task whose weights are what the file stores.

    Tables lie on their int8 grid where the task's policy says so (a slice of the position table becomes a float constant in the graph,
    and must carry the values that training saw), and query kernels carry the scale of attention, which makes their grid no coarser:
    scaling a channel scales its grid.
    """
    twin = task.with_policy(task.policy.in_float() if task.policy else None)
    for mine, theirs in zip(activation_points(twin), activation_points(task), strict=True):
        if theirs.equalizer is not None:
            mine.equalizer.assign(theirs.equalizer)
    for mine, theirs in zip(sublayers(twin, EmbeddingTable), sublayers(task, EmbeddingTable), strict=True):
        mine.table.assign(theirs.on_grid())
    for attention in sublayers(twin, SelfAttention):
        for weight in (attention.query.kernel, attention.query.bias):
            weight.assign(weight * attention.scale)
    return twin


def float_model(twin, target: Target, length: int | None, half: bool = False) -> bytes:
    """A `.tflite` with one signature `serve`, batch 1; float32, or weights in float16 when `half`.

    length: tokens in a row, or None for a length that the caller of the file sets.
    """
    layout = target.fixed if length else target.resizable
    specs = {name: tf.TensorSpec((1, length), tf.int32, name=name) for name in INPUT_NAMES}
    serve = tf.function(lambda **inputs: twin.serve(inputs, layout=layout)).get_concrete_function(**specs)
    # The module holds the variables and not the layers: a SavedModel of the layers would trace each of them again.
    module = tf.Module()
    module.weights = list(twin.variables)
    with tempfile.TemporaryDirectory() as folder, quiet():
        tf.saved_model.save(module, folder, signatures={SIGNATURE: serve})
        converter = tf.lite.TFLiteConverter.from_saved_model(folder, signature_keys=[SIGNATURE])
        if half:
            converter.optimizations = [tf.lite.Optimize.DEFAULT]
            converter.target_spec.supported_types = [tf.float16]
        return converter.convert()
