"""Importance of attention heads, feed-forward neurons and hidden dimensions, from gradients of the loss.

A gate is a factor of 1 on the output of a head or a neuron, or on a dimension of the hidden states. The derivative of the loss by the gate
estimates, to first order, the change of the loss without that part. The importance is the mean of its absolute value over examples. For
heads see Michel et al. 2019, "Are Sixteen Heads Really Better than One?", section 4.1. For neurons see Molchanov et al. 2017, "Pruning
Convolutional Neural Networks for Resource Efficient Inference", section 2.2.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from kerasbert.capture import captured
from kerasbert.compression.labelled_loss import Loss, labelled_batches, mean_loss, split_labels
from kerasbert.compression.pruning.structured.model_surgery import attentions, check_float, feed_forwards
from kerasbert.compression.quantization.known_tokens import check_known_tokens
from kerasbert.layers.quantization.activation_quantizers import ActivationFakeQuant
from kerasbert.tasks.base import Task


def head_importance(task: Task, data: Any, batch_size: int = 32) -> list[np.ndarray]:
    """Return the importance of the attention heads, `(heads,)` with Euclidean norm 1 for each block.

    It is the mean over examples of the absolute derivative of the loss by a gate on the head (Michel et al. 2019, section 4.1). A
    block that is called several times has one gate a head for all its calls.

    Args:
        task: The task, in float.
        data: A labelled table of `kerasbert.data`, or `(examples, labels)` as `fit` takes them; examples alone for a masked language model.
            A few hundred examples are enough.
        batch_size: Examples in a batch.

    Returns:
        One array for each block, from 0 to 1.

    Raises:
        KerasBertError: When the task is quantized or has no loss, and when the data have no labels.

    Example:
        ```python
        from kerasbert.compression.pruning.structured import head_importance
        head_importance(task, (texts, labels))[0]  # of the first block
        ```
    """
    check_float(task)
    copy = task.with_policy(None)  # leaves the caller's task without observers
    blocks = attentions(copy)
    derivatives = gate_derivatives(
        copy, [block.context for block in blocks], [block.heads for block in blocks], data, batch_size
    )
    return [_normalized(values) for values in derivatives]


def neuron_importance(task: Task, data: Any, batch_size: int = 32) -> list[np.ndarray]:
    """Return the importance of the feed-forward neurons, `(neurons,)` for each network.

    It is the mean over examples of the absolute derivative of the loss by a gate on the neuron (Molchanov et al. 2017).

    Args:
        task: The task, in float.
        data: Labelled examples, see `head_importance`.
        batch_size: Examples in a batch.

    Returns:
        One array for each feed-forward network.

    Raises:
        KerasBertError: When the task is quantized or has no loss, and when the data have no labels.

    Example:
        ```python
        from kerasbert.compression.pruning.structured import neuron_importance
        neuron_importance(task, (texts, labels))[0].argmin()  # the least important neuron of the first network
        ```
    """
    check_float(task)
    copy = task.with_policy(None)
    networks = feed_forwards(copy)
    derivatives = gate_derivatives(
        copy,
        [network.hidden for network in networks],
        [network.intermediate.units for network in networks],
        data,
        batch_size,
    )
    return [_normalized(values) for values in derivatives]


def hidden_importance(task: Task, data: Any, batch_size: int = 32) -> np.ndarray:
    """Return the importance of the dimensions of the hidden states, `(hidden,)` with Euclidean norm 1.

    It is the mean over examples of the absolute derivative of the loss by a gate on the dimension, one for all places at which layers
    write it: the embeddings, each attention and each feed-forward network.

    Args:
        task: The task, in float.
        data: Labelled examples, see `head_importance`.
        batch_size: Examples in a batch.

    Returns:
        One number for each dimension, from 0 to 1.

    Raises:
        KerasBertError: When the task is quantized or has no loss, and when the data have no labels.

    Example:
        ```python
        from kerasbert.compression.pruning.structured import hidden_importance
        hidden_importance(task, (texts, labels)).argmin()  # the least important dimension
        ```
    """
    return stream_importance(task, data, batch_size)[0]


def stream_importance(task: Task, data: Any, batch_size: int) -> tuple[np.ndarray, np.ndarray | None]:
    """Return `hidden_importance`, and the importance of the numbers of the pooled vector; None without a pooler."""
    check_float(task)
    copy = task.with_policy(None)
    pooled = [] if copy.encoder.pooler is None else [copy.encoder.pooled_quantizer]
    width = copy.config.hidden_size
    *of_pooled, of_stream = gate_derivatives(copy, pooled, [width] * len(pooled), data, batch_size, stream=True)
    return _normalized(of_stream), _normalized(of_pooled[0]) if of_pooled else None


def gate_derivatives(
    task: Task, quantizers: Sequence[ActivationFakeQuant], gates: Sequence[int], data: Any, batch_size: int = 32,
    stream: bool = False,
) -> list[np.ndarray]:  # fmt: skip
    """Return the mean over examples of |d loss / d gate|, `(gates,)` for each activation.

    The task runs as in inference.

    Args:
        task: The task; its quantizers get observers meanwhile.
        quantizers: The activations to gate, each by its quantizer.
        gates: Number of gates that divide the last axis of each activation.
        data: See `head_importance`.
        batch_size: Examples in a batch.
        stream: Whether gates on the dimensions of the residual stream follow those of the quantizers.

    Raises:
        KerasBertError: When the task has no loss, and when the data have no labels or no known token.
    """
    loss = mean_loss(task)
    x, y = split_labels(task, data)
    check_known_tokens(task, task.features(x)[1], "find on them what matters")
    batches = labelled_batches(task, x, y, batch_size)
    gates = [*gates, task.config.hidden_size] if stream else list(gates)
    totals, examples = [np.zeros(count) for count in gates], 0
    for inputs, targets, *_ in batches:
        count = int(inputs["input_ids"].shape[0])
        activations, gradients = _batch_gradients(task, quantizers, inputs, targets, loss, stream)
        sums = [
            _sum_by_gate(tensors, slopes, count, number)
            for tensors, slopes, number in zip(activations, gradients, gates, strict=True)
        ]
        for total, batch_sum in zip(totals, sums, strict=True):
            total += batch_sum
        examples += count
    return [total / examples for total in totals]


def _batch_gradients(
    task: Task, quantizers: Sequence[ActivationFakeQuant], inputs: dict[str, tf.Tensor], targets: Any, loss: Loss,
    stream: bool,
) -> tuple[list[list[tf.Tensor]], Any]:  # fmt: skip
    """The batch's activations, for each quantizer those of all its calls, and their gradients."""
    with tf.GradientTape(watch_accessed_variables=stream) as tape:
        observer = _WatchingObserver(tape)
        for quantizer in quantizers:
            quantizer.observer = observer
        try:
            with captured() as tensors:
                value = loss(targets, task(inputs, training=False))
        finally:
            for quantizer in quantizers:
                quantizer.observer = None
    activations = [observer.activations[id(quantizer)] for quantizer in quantizers]
    if stream:
        activations.append(_stream_tensors(task, tensors))
    return activations, tape.gradient(value, activations, unconnected_gradients=tf.UnconnectedGradients.ZERO)


def _stream_tensors(task: Task, tensors: dict[str, list]) -> list[tf.Tensor]:
    """The residual stream wherever a layer has written it: hidden states, and between attention and the feed-forward network.

    Between bottlenecks there is another stream. A pre-norm block normalizes a copy, which is not the stream.
    """
    hidden = [state for states, _ in tensors["encoder"] for state in states]
    if task.config.pre_norm or getattr(task.config, "use_bottleneck", False):
        return hidden
    return [*hidden, *(result for path, _, result in tensors.get("norm", ()) if path.endswith(".attention_norm"))]


def _sum_by_gate(
    activations: Sequence[tf.Tensor], gradients: Sequence[tf.Tensor], examples: int, gates: int
) -> np.ndarray:
    """The sum over examples for one quantizer, `(gates,)`, over all its calls.

    The tokens and rows of an example share a gate, so their derivatives add up. The loss is a mean over the batch, so the derivative of an
    example's own loss is larger by the number of examples.
    """
    derivatives = [
        tf.reduce_sum(tf.reshape(x * slope, (examples, -1, gates, tf.shape(x)[-1] // gates)), axis=(1, 3))  # (n, gates)
        for x, slope in zip(activations, gradients, strict=True)
    ]
    return tf.reduce_sum(tf.abs(examples * tf.add_n(derivatives)), axis=0).numpy()


class _WatchingObserver:
    """Observer that collects activations and has a tape watch them."""

    before_scaling = True

    def __init__(self, tape: tf.GradientTape):
        self.tape = tape
        self.activations: dict[int, list[tf.Tensor]] = defaultdict(list)

    def __call__(self, quantizer: ActivationFakeQuant, x: tf.Tensor) -> tf.Tensor:
        self.tape.watch(x)
        self.activations[id(quantizer)].append(x)
        return x


def _normalized(values: np.ndarray) -> np.ndarray:
    """Scale to Euclidean norm 1, so that layers with gradients of other magnitudes are comparable (Molchanov et al. 2017, section 2.2)."""
    return values / max(float(np.linalg.norm(values)), 1e-30)
