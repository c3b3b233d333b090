"""Traces a trained task for its target and converts the graph to a float `.tflite`. Needs TensorFlow."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

import tensorflow as tf

from kerasbert.console.native_output import suppress_stderr
from kerasbert.errors import KerasBertError
from kerasbert.export.lowering.saved_model import saved_model_converter
from kerasbert.export.lowering.targets import Target
from kerasbert.export.lowering.text_inputs import text_function
from kerasbert.files.cleanup import temporary_folder
from kerasbert.ids import INPUT_NAMES
from kerasbert.layers.blocks.transformer_block import SelfAttention
from kerasbert.layers.embedding_table import EmbeddingTable
from kerasbert.layers.lowering.options import LoweringOptions, lowered, lowering_options
from kerasbert.layers.quantization.activation_quantizers import activation_quantizers
from kerasbert.layers.traversal import sublayers
from kerasbert.processors.exits import ATTENTION_MASK, HIDDEN
from kerasbert.tasks.base import Task
from kerasbert.tasks.early_exit import EarlyExitTask

SIGNATURE = "serve"


def export_twin(task: Task) -> Task:
    """Copy a task to float, with the weights that the file stores.

    Tables lie on their int8 grid if the task's policy quantizes them: a slice of the position table becomes a float constant of the graph,
    which must have the values that training emulated. Query kernels carry the scale of attention. That scales their grid per channel, so it
    is no coarser.
    """
    twin = task.with_policy(task.policy.in_float() if task.policy else None)
    copy_equalizers(task, twin)
    for copied, trained in zip(sublayers(twin, EmbeddingTable), sublayers(task, EmbeddingTable), strict=True):
        copied.table.assign(trained.served_table())
    fold_attention_scale(twin)
    return twin


def copy_equalizers(task: Task, twin: Task) -> None:
    """Copy the equalization scales of a task to a copy of it."""
    for copied, trained in zip(activation_quantizers(twin), activation_quantizers(task), strict=True):
        if trained.equalizer is not None and copied.equalizer is not None:
            copied.equalizer.assign(trained.equalizer)


def fold_attention_scale(twin: Task) -> None:
    """Multiply query kernels and biases by the scale of attention, in place."""
    for attention in sublayers(twin, SelfAttention):
        for weight in (attention.query.kernel, attention.query.bias):
            if weight is not None:
                weight.assign(weight * attention.scale)


def float_model(twin: Task, target: Target, length: int | None, half: bool = False) -> bytes:
    """Convert a float task to a `.tflite` with one signature `serve` of batch 1.

    Args:
        twin: A float task, see `export_twin`.
        target: The deployment target.
        length: Tokens in a row; None for a resizable length.
        half: Whether weights are float16.
    """
    with temporary_folder("graph") as folder:
        save_graph(twin, target, length, folder)
        return converted_graph(folder, half)


def save_graph(
    twin: Task, target: Target, length: int | None, folder: Path, texts: bool = False, stage: int | None = None
) -> None:
    """Save graph and weights of a task as a SavedModel: the first half of a conversion. The twin is not needed afterwards.

    Args:
        twin: The task to trace, see `export_twin`.
        target: The deployment target.
        length: Tokens in a row; None for a resizable length.
        folder: The folder of the SavedModel.
        texts: Whether the graph takes texts, see `text_inputs`.
        stage: The layers to trace, up to this exit; None for the whole task. See `EarlyExitTask.serve_stage`.

    Raises:
        KerasBertError: when a graph that takes texts is to be resizable.
    """
    lowering = target.lowering(length)
    if texts:
        if length is None:
            raise KerasBertError(
                "expected a number of tokens for a file that takes texts, received a resizable length; name one"
            )
        save_function(*text_function(twin, length), folder, lowering)
        return
    specs = {name: tf.TensorSpec((1, length), tf.int32, name=name) for name in INPUT_NAMES}
    if stage is None:
        save_function(lambda **inputs: twin.serve(inputs), specs, folder, lowering)
        return
    staged = cast(EarlyExitTask, twin)
    if stage:
        hidden = tf.TensorSpec((1, length, twin.config.hidden_size), tf.float32, name=HIDDEN)
        specs = {ATTENTION_MASK: specs[ATTENTION_MASK], HIDDEN: hidden}
    save_function(lambda **inputs: staged.serve_stage(stage, inputs), specs, folder, lowering)


def save_function(
    function: Callable, specs: Mapping[str, tf.TensorSpec], folder: Path, lowering: LoweringOptions | None = None
) -> None:
    """Save a function as a SavedModel with one signature.

    Args:
        function: Takes tensors as keyword arguments and returns tensors by name. The caller keeps the variables that it reads alive.
        specs: The specification of its inputs by name.
        folder: The folder of the SavedModel.
        lowering: The lowering options of the graph; None for those of training.
    """
    with lowered(lowering or lowering_options()):
        traced = tf.function(function, autograph=False).get_concrete_function(**specs)
    # The module holds variables instead of layers, because a SavedModel would trace every layer again. It holds only those that the graph
    # reads, because each takes time: an integer-only model has twice as many ranges, which are constants here, as weights.
    module: Any = tf.Module()
    module.weights = list(traced.variables)
    with suppress_stderr():
        tf.saved_model.save(module, str(folder), signatures={SIGNATURE: traced})


def converted_graph(folder: Path, half: bool = False, integer: bool = False, texts: bool = False) -> bytes:
    """Convert a SavedModel to a `.tflite`: the second half of a conversion.

    Args:
        folder: The folder of the SavedModel.
        half: Whether weights become float16.
        integer: Whether operators between fake quantizers become integer operators.
        texts: Whether the graph has tensorflow-text's operators.
    """
    with suppress_stderr():
        converter = saved_model_converter(folder, SIGNATURE)
        # Each option saves one to three copies of the weights, and much time with a large model. The first would rebuild the file to store
        # constants inside the FlatBuffer, which `tflite.model.decode` handles. The second would rebuild it to add the converter's name.
        converter._experimental_use_buffer_offset = True
        converter.exclude_conversion_metadata = True
        converter.allow_custom_ops = texts
        if half or integer:
            converter.optimizations = [tf.lite.Optimize.DEFAULT]
        if half:
            converter.target_spec.supported_types = [tf.float16]
        return bytes(converter.convert())
