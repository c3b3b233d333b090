"""A trained task traced once more for its target, as a float `.tflite`. Needs TensorFlow."""

from pathlib import Path

import tensorflow as tf

from kerasbert.cleanup import temporary_folder
from kerasbert.console.native_output import suppress_stderr
from kerasbert.export.lowering.saved_model import saved_model_converter
from kerasbert.export.lowering.text_inputs import text_function
from kerasbert.export.targets import Target
from kerasbert.ids import INPUT_NAMES
from kerasbert.layers.attention import SelfAttention
from kerasbert.layers.embedding_table import EmbeddingTable
from kerasbert.layers.quantization.activation_quantizers import activation_quantizers
from kerasbert.layers.traversal import sublayers

SIGNATURE = "serve"


def export_twin(task):
    """A float copy of the task whose weights are what the file stores.

    Tables lie on their int8 grid where the task's policy says so (a slice of the position table becomes a float constant in the graph,
    and must carry the values that training saw), and query kernels carry the scale of attention, which makes their grid no coarser:
    scaling a channel scales its grid.
    """
    twin = task.with_policy(task.policy.in_float() if task.policy else None)
    for mine, theirs in zip(activation_quantizers(twin), activation_quantizers(task), strict=True):
        if theirs.equalizer is not None:
            mine.equalizer.assign(theirs.equalizer)
    for mine, theirs in zip(sublayers(twin, EmbeddingTable), sublayers(task, EmbeddingTable), strict=True):
        mine.table.assign(theirs.served_table())
    for attention in sublayers(twin, SelfAttention):
        for weight in (attention.query.kernel, attention.query.bias):
            weight.assign(weight * attention.scale)
    return twin


def float_model(twin, target: Target, length: int | None, half: bool = False) -> bytes:
    """A `.tflite` with one signature `serve`, batch 1; float32, or weights in float16 when `half`.

    length: tokens in a row, or None for a length that the caller of the file sets.
    """
    with temporary_folder("graph") as folder:
        save_graph(twin, target, length, folder)
        return converted_graph(folder, half)


def save_graph(twin, target: Target, length: int | None, folder: Path, texts: bool = False) -> None:
    """The first half of `float_model`: graph and weights as a SavedModel. The twin is not needed after it. texts: see `text_inputs`."""
    layout = target.layout(length)
    if texts:
        save_function(*text_function(twin, length, layout), folder)
        return
    specs = {name: tf.TensorSpec((1, length), tf.int32, name=name) for name in INPUT_NAMES}
    save_function(lambda **inputs: twin.serve(inputs, layout=layout), specs, folder)


def save_function(function, specs: dict[str, tf.TensorSpec], folder: Path) -> None:
    """A function from tensors by name to tensors by name as a SavedModel of one signature. Whoever calls holds the variables it reads."""
    traced = tf.function(function, autograph=False).get_concrete_function(**specs)
    # The module holds variables and not layers: a SavedModel of the layers would trace each of them again. And only those that the graph
    # reads: each takes time, and an integer-only model has twice as many ranges, which are constants here, as weights.
    module = tf.Module()
    module.weights = list(traced.variables)
    with suppress_stderr():
        tf.saved_model.save(module, str(folder), signatures={SIGNATURE: traced})


def converted_graph(folder: Path, half: bool = False, integer: bool = False, texts: bool = False) -> bytes:
    """The second half: the SavedModel as a `.tflite`. integer: with integer operators where the graph has fake quantization. texts: with
    tensorflow-text's operators."""
    with suppress_stderr():
        converter = saved_model_converter(folder, SIGNATURE)
        # Both save the memory of one to three copies of the weights (and much time, with a large model): building the file anew to write
        # constants inside the flatbuffer (`flatbuffer` does that where it matters), and once more to say which converter wrote it.
        converter._experimental_use_buffer_offset = True
        converter.exclude_conversion_metadata = True
        converter.allow_custom_ops = texts
        if half or integer:
            converter.optimizations = [tf.lite.Optimize.DEFAULT]
        if half:
            converter.target_spec.supported_types = [tf.float16]
        return bytes(converter.convert())
