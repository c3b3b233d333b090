"""How much the loss would change without a head or a neuron, found from gradients.

A *gate* multiplies what one head, or one neuron, hands on; it is 1. The derivative of the loss by it says, to first order, what taking the
part away would change. Its size, averaged over examples, is the part's importance: of heads after Michel et al. 2019, "Are Sixteen Heads
Really Better than One?", section 4.1; of neurons after Molchanov et al. 2017, "Pruning Convolutional Neural Networks for Resource Efficient
Inference", section 2.2.
"""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from kerasbert.compression.pruning.structured.model_surgery import attentions, check_float, feed_forwards
from kerasbert.compression.quantization.known_tokens import check_words
from kerasbert.data.table import is_table
from kerasbert.errors import KerasBertError
from kerasbert.layers.quantization.activation_quantizers import ActivationFakeQuant
from kerasbert.losses.classes import CrossEntropy


def head_importance(task, data, batch_size: int = 32) -> list[np.ndarray]:
    """The importance of every head, (heads,) of each block, of length 1 (Euclidean) in each.

    data: a labelled table of `kerasbert.data`, or `(examples, labels)` as `fit` takes them; of a masked language model examples alone. A
    few hundred will do. A block that is called several times has one gate a head for all its calls.

    Raises KerasBertError for a quantized task, one without a loss, and for data without labels.
    """
    check_float(task)
    copy = task.with_policy(None)  # observers and a loss are nothing that the caller's task should see
    blocks = attentions(copy)
    found = gate_derivatives(
        copy, [block.context for block in blocks], [block.heads for block in blocks], data, batch_size
    )
    return [_of_length_one(values) for values in found]


def neuron_importance(task, data, batch_size: int = 32) -> list[np.ndarray]:
    """The importance of every neuron of the feed-forward networks, (neurons,) of each; otherwise as `head_importance`."""
    check_float(task)
    copy = task.with_policy(None)
    networks = feed_forwards(copy)
    points = [network.hidden for network in networks]
    found = gate_derivatives(copy, points, [network.intermediate.units for network in networks], data, batch_size)
    return [_of_length_one(values) for values in found]


def gate_derivatives(
    task, points: Sequence[ActivationFakeQuant], gates: Sequence[int], data, batch_size: int = 32
) -> list[np.ndarray]:
    """|d loss / d gate|, the mean over examples: (gates,) of each point.

    points: where the gates stand; the last axis of what passes is divided among `gates` of them. The task is run as in inference.
    """
    loss = _loss(task)
    x, y = _examples_and_labels(task, data)
    check_words(task, task.features(x)[1], "find on them what matters")
    batches = task.dataset(x, y, batch_size=batch_size)
    if isinstance(batches.element_spec, dict):
        raise KerasBertError("expected labels beside the examples that importance is found on, received none")
    totals, examples = [np.zeros(count) for count in gates], 0
    for inputs, targets, *_ in batches:
        count = int(inputs["input_ids"].shape[0])
        for total, found in zip(totals, _of_batch(task, points, gates, inputs, targets, loss, count), strict=True):
            total += found
        examples += count
    return [total / examples for total in totals]


def _of_batch(task, points, gates, inputs, targets, loss, examples: int) -> list[np.ndarray]:
    """The sum over the batch's examples."""
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        seen = _Seen(tape)
        for point in points:
            point.observer = seen
        try:
            value = loss(targets, task(inputs, training=False))
        finally:
            for point in points:
                point.observer = None
    passed = [seen.passed[id(point)] for point in points]
    slopes = tape.gradient(value, passed, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    return [
        _by_gate(tensors, gradients, examples, count)
        for tensors, gradients, count in zip(passed, slopes, gates, strict=True)
    ]


def _by_gate(tensors, gradients, examples: int, gates: int) -> np.ndarray:
    """Of one point, in all its calls. An example's rows (several in a group) and tokens pass the same gate: their slopes add up.

    The loss is a mean over the batch, so one example's own loss has slopes that are larger by the number of examples.
    """
    slopes = [
        tf.reduce_sum(tf.reshape(x * slope, (examples, -1, gates, x.shape[-1] // gates)), axis=(1, 3))  # (n, gates)
        for x, slope in zip(tensors, gradients, strict=True)
    ]
    return tf.reduce_sum(tf.abs(examples * tf.add_n(slopes)), axis=0).numpy()


class _Seen:
    """An observer that keeps what passes, watched by a tape."""

    before_scaling = True

    def __init__(self, tape: tf.GradientTape):
        self.tape, self.passed = tape, defaultdict(list)

    def __call__(self, point: ActivationFakeQuant, x):
        self.tape.watch(x)
        self.passed[id(point)].append(x)
        return x


def _loss(task):
    """(targets, outputs) -> the mean over the batch, by the task's own loss."""
    try:
        loss = task.default_loss()
    except NotImplementedError:
        raise KerasBertError(
            f"expected a task with a loss, received a {type(task).__name__}: importance is found from the loss's gradients"
        ) from None
    if task.processor.self_supervised:  # its targets are mostly places that count for nothing
        return CrossEntropy()
    if isinstance(loss, dict):
        return lambda targets, outputs: tf.add_n([loss[name](targets[name], outputs[name]) for name in loss])
    return loss


def _examples_and_labels(task, data):
    if data is None:
        raise KerasBertError(
            "expected labelled examples: what to cut is found from the loss on them; received none; give them as `data=`"
        )
    if is_table(data):
        return data.x, data.y
    if isinstance(data, tuple) and len(data) == 2 and not isinstance(data[0], str):
        return data
    if task.processor.self_supervised:
        return data, None
    raise KerasBertError(
        f"expected (examples, labels) or a table with labels as `data=`, received {type(data).__name__}"
    )


def _of_length_one(values: np.ndarray) -> np.ndarray:
    """Of layers in which slopes are of another size altogether, this makes parts comparable (Molchanov et al. 2017, section 2.2)."""
    return values / max(float(np.linalg.norm(values)), 1e-30)
