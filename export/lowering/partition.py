"""Partitions a task into two files, for an accelerator that computes with integers only and has no gather.

The host model turns ids into `hidden` `(1, S, H)` and `attention_bias` `(1, S)`, both int8 with the scale of training. The accelerator
model takes these and computes in 8 bits from its inputs to its outputs. Together they compute what one integer-only file would, except
for attention, which the accelerator model decomposes (`kerasbert.layers.blocks.decomposed_attention`).
"""

from collections.abc import Callable, Mapping, Sequence

import tensorflow as tf

from kerasbert.errors import KerasBertError
from kerasbert.export.lowering.integer_only import integer_target, integer_twin
from kerasbert.export.lowering.targets import Target
from kerasbert.export.lowering.tracing import converted_graph, save_function
from kerasbert.export.passes.context import Pass, PassContext
from kerasbert.export.passes.recipes import INTEGER_RECIPE, recipe_named
from kerasbert.export.tflite.model import decode, encode
from kerasbert.export.tflite.model_parts import BIAS, HIDDEN
from kerasbert.files.cleanup import temporary_folder
from kerasbert.ids import INPUT_NAMES
from kerasbert.layers.blocks.decomposed_attention import in_eight_bits
from kerasbert.layers.lowering.options import LoweringOptions
from kerasbert.layers.quantization.activation_quantizers import StaticFakeQuant
from kerasbert.layers.quantization.edges import output_quantizer
from kerasbert.layers.quantization.padding import INTEGER_MASK
from kerasbert.memory import release
from kerasbert.tasks.base import Task


def split_files(task: Task, target: Target, length: int) -> tuple[bytes, bytes]:
    """Convert an integer-only task to a host model and an accelerator model.

    Args:
        task: A task that was quantized with integers only.
        target: The deployment target.
        length: Tokens in a row.

    Returns:
        The bytes of the host model and of the accelerator model, without metadata.

    Raises:
        KerasBertError: when the task's head reads more than the encoder's output, or an operator would stay in float.
    """
    if task.reads_mask:
        raise KerasBertError(
            f"expected a task whose head reads the encoder's output alone, received a {type(task).__name__}, which also reads which tokens "
            "are padding; convert it for another target"
        )
    twin, lowering = integer_twin(task), integer_target(target).lowering(length)
    bounds = _hidden_range(twin)

    def embed(**inputs: tf.Tensor) -> dict[str, tf.Tensor]:
        hidden, bias = twin.encoder.embed(inputs)
        return {HIDDEN: hidden, BIAS: tf.reshape(bias, (1, length))}

    def serve(**inputs: tf.Tensor) -> dict[str, tf.Tensor]:
        quantized = {
            HIDDEN: in_eight_bits(inputs[HIDDEN], *bounds),
            BIAS: in_eight_bits(inputs[BIAS], INTEGER_MASK, 0.0),
        }
        return twin.serve(quantized)

    ids = {name: tf.TensorSpec((1, length), tf.int32, name=name) for name in INPUT_NAMES}
    vectors = {
        HIDDEN: tf.TensorSpec((1, length, task.config.hidden_size), tf.float32, name=HIDDEN),
        BIAS: tf.TensorSpec((1, length), tf.float32, name=BIAS),
    }
    host = _integer_model(embed, ids, lowering, target.host_passes)
    return host, _integer_model(serve, vectors, lowering, target.integer_passes)


def _hidden_range(twin: Task) -> tuple[float, float]:
    """Return the trained range of the embeddings' output."""
    quantizer = output_quantizer(twin.encoder.embeddings.edges().output)
    if not isinstance(quantizer, StaticFakeQuant):
        raise KerasBertError(
            "expected embeddings whose output has a static range, received others; quantize the task with integer_only"
        )
    return float(quantizer.minimum), float(quantizer.maximum)


def _integer_model(
    function: Callable, specs: Mapping[str, tf.TensorSpec], lowering: LoweringOptions, passes: Sequence[Pass]
) -> bytes:
    """Convert a function to a model with integer operators, rewritten by passes."""
    with temporary_folder("graph") as folder:
        save_function(function, specs, folder, lowering)
        release()
        model = decode(converted_graph(folder, integer=True))
    for run_pass in passes:
        run_pass(model, PassContext(recipe_named(INTEGER_RECIPE)))
    return encode(model)
