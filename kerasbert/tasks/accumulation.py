"""Gradient accumulation: the parts of a batch one after another, and one step of the optimizer."""

from typing import Any

import tensorflow as tf
import tf_keras as keras


def accumulated_step(task: Any, data: Any) -> dict[str, Any]:
    """Train on a batch in `task.accumulate` parts. Loss and gradients are those of the whole batch.

    Args:
        task: A compiled task with `accumulate`, `totals` and `masked_only`.
        data: Inputs, labels and sample weights, where there are any.

    Returns:
        The metrics.
    """
    parts, totals, variables = task.accumulate, task.totals(data), task.trainable_variables
    rows = tf.shape(tf.nest.flatten(data)[0])[0]

    def gradients_of(part: tf.Tensor) -> list[tf.Tensor | None]:
        first, last = part * rows // parts, (part + 1) * rows // parts
        x, y, weights = keras.utils.unpack_x_y_sample_weight(
            task.masked_only(tf.nest.map_structure(lambda each: each[first:last], data), totals)
        )
        with tf.GradientTape() as tape:
            outputs = task(x, training=True)
            loss = task.compute_loss(x, y, outputs, weights)
        task.compute_metrics(x, y, outputs, weights)
        found = tape.gradient(loss / parts, variables)
        return [None if each is None else tf.convert_to_tensor(each) for each in found]

    # The first part is outside of the loop: it shows which variables have a gradient.
    first = gradients_of(tf.constant(0))
    trained = [number for number, each in enumerate(first) if each is not None]

    def add(part: tf.Tensor, sums: list[tf.Tensor]) -> tuple[tf.Tensor, list[tf.Tensor]]:
        found = gradients_of(part)
        return part + 1, [total + found[number] for total, number in zip(sums, trained, strict=True)]

    _, sums = tf.while_loop(
        lambda part, _: part < parts,
        add,
        (tf.constant(1), [first[number] for number in trained]),
        parallel_iterations=1,
    )
    task.optimizer.apply_gradients(zip(sums, [variables[number] for number in trained], strict=True))
    return {metric.name: metric.result() for metric in task.metrics}
