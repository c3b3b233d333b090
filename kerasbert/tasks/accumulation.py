"""Gradient accumulation: the parts of a batch one after another, on one device or several, and one step of the optimizer."""

from typing import Any

import tensorflow as tf
import tf_keras as keras


def step_in_parts(task: Any, data: Any) -> dict[str, Any]:
    """Train on a batch in `task.accumulate` parts, on each of several devices. Loss and gradients are those of the whole batch.

    Args:
        task: A compiled `PretrainingTask`.
        data: Inputs, labels and sample weights, where there are any.

    Returns:
        The metrics.
    """
    parts, totals, variables = task.accumulate, task.totals(data), task.trainable_variables
    rows = tf.shape(tf.nest.flatten(data)[0])[0]
    # Under mixed_float16 the loss is scaled, so that small gradients are not rounded to 0.
    scaled = getattr(task.optimizer, "get_scaled_loss", lambda loss: loss)
    unscaled = getattr(task.optimizer, "get_unscaled_gradients", lambda gradients: gradients)

    def results_of(part: tf.Tensor) -> tuple[list[tf.Tensor | None], list[tf.Tensor]]:
        first, last = part * rows // parts, (part + 1) * rows // parts
        share = tf.nest.map_structure(lambda each: each[first:last], data)
        x, y, weights = keras.utils.unpack_x_y_sample_weight(task.masked_only(share))
        with tf.GradientTape() as tape:
            y, outputs = task.targets(x, y, task(x, training=True))
            losses = task.shares_of_losses(y, outputs, weights, task.counts(share), totals)
            loss = scaled(task.combined(losses))
        if not task.compiled_loss.built:
            task.compiled_loss.build(outputs)
        task.compiled_metrics.update_state(y, outputs, weights)
        found = tape.gradient(loss, variables)
        return [None if each is None else tf.convert_to_tensor(each) for each in found], losses

    # The first part is outside of the loop: it shows which variables have a gradient.
    first, losses = results_of(tf.constant(0))
    trained = [number for number, each in enumerate(first) if each is not None]

    def add(part: tf.Tensor, sums: list[tf.Tensor], losses: list[tf.Tensor]) -> tuple:
        found: list[Any]
        found, more = results_of(part)
        gradients = [total + found[number] for total, number in zip(sums, trained, strict=True)]
        return part + 1, gradients, [total + each for total, each in zip(losses, more, strict=True)]

    start = (tf.constant(1), [first[number] for number in trained], losses)
    _, sums, losses = tf.while_loop(lambda part, *_: part < parts, add, start, parallel_iterations=1)
    task.optimizer.apply_gradients(zip(unscaled(sums), [variables[number] for number in trained], strict=True))
    replicas = task.distribute_strategy.num_replicas_in_sync
    weight = next(iter(totals.values())) / replicas
    task.update_losses(
        [replicas * each for each in losses], weight
    )  # the mean over the replicas is the sum of their shares
    return {metric.name: metric.result() for metric in task.metrics}
