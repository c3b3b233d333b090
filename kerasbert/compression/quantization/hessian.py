"""The curvature of the loss by kernel, from products of its Hessian with vectors: traces and largest eigenvalues."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from kerasbert.arguments import check_choice, check_whole_number
from kerasbert.compression.labelled_loss import labelled_batches, mean_loss, split_labels
from kerasbert.compression.quantization.known_tokens import check_known_tokens
from kerasbert.data.dataset import examples_of
from kerasbert.data.sampling import spread
from kerasbert.errors import KerasBertError
from kerasbert.tasks.base import Task, check_task

MEASURES = ("trace", "eigenvalue")
_DRAWS = 8  # random vectors for a trace
_ITERATIONS = 12  # of a power iteration
_SETTLED = 0.02  # relative change of an eigenvalue at which it ends

Product = Callable[[Sequence[tf.Tensor]], list[tf.Tensor]]


def curvatures(
    task: Task,
    groups: Mapping[str, Sequence[tf.Variable]],
    data: Any,
    measure: str = "trace",
    parts: int = 4,
    rows: int = 64,
    batch_size: int = 32,
    seed: int = 0,
) -> dict[str, np.ndarray]:
    """Return the curvature of the loss in some groups of kernels, on each of several parts of the data.

    Args:
        task: The task, in float.
        groups: Kernels by the name of their group. The Hessian of a group leaves out all other weights.
        data: Labelled examples: a table of `kerasbert.data`, or `(examples, labels)`; examples alone for a masked language model.
        measure: `trace`, the mean eigenvalue by Hutchinson's estimate, of all groups at once; or `eigenvalue`, the largest in magnitude by
            power iteration, group after group, as in Shen et al. 2019, "Q-BERT".
        parts: Number of parts.
        rows: Examples in a part, spread evenly over the data.
        batch_size: Examples in a batch.
        seed: Of the random vectors.

    Returns:
        The curvature on each part, `(parts,)`, by group.

    Raises:
        KerasBertError: When the task is quantized or has no loss, when the data have no labels or no known token, and when there are fewer
            examples than parts.
    """
    check_task(task)
    check_choice(measure, "a measure of", MEASURES)
    for name, number in (("parts", parts), ("rows", rows)):
        check_whole_number(number, name, 1)
    if task.policy is not None:
        raise KerasBertError(
            f"expected a task in float for the Hessian of its loss, received one quantized for {task.policy.recipe!r}; load the one before"
        )
    draw, found = np.random.default_rng(seed), {name: [] for name in groups}
    kernels = [kernel for group in groups.values() for kernel in group]
    of_batch = _batch_product(task, kernels)
    if measure == "eigenvalue":  # so many products that tracing one pays
        of_batch = tf.function(of_batch, autograph=False, reduce_retracing=True)
    for batches in _part_batches(task, data, parts, rows, batch_size):
        product = _mean_product(of_batch, batches)
        values = (_mean_eigenvalues if measure == "trace" else _largest_eigenvalues)(groups, product, draw)
        for name, value in values.items():
            found[name].append(value)
    return {name: np.array(values) for name, values in found.items()}


def _part_batches(task: Task, data: Any, parts: int, rows: int, batch_size: int) -> Iterator[list]:
    """Yield the batches (inputs, targets) of each part. The parts have no example in common."""
    loss_data = split_labels(task, data)
    x, y = (None if column is None else examples_of(column) for column in loss_data)
    features = task.features(x)[1]
    check_known_tokens(task, features, "find the Hessian of the loss")
    count = int(features.example.max()) + 1  # a long example has several rows
    if count < parts:
        raise KerasBertError(f"expected at least an example for each of {parts} parts, received {count}; give more")
    index = [int(i) for i in spread(count, min(parts * rows, count))]
    for part in range(parts):
        chosen = index[part::parts]
        examples, labels = (None if column is None else _rows(column, chosen) for column in (x, y))
        yield list(labelled_batches(task, examples, labels, batch_size))


def _rows(column: Any, index: Sequence[int]) -> Any:
    """Return some rows of examples or labels; of several columns, those rows of each."""
    if isinstance(column, tuple):
        return tuple(_rows(each, index) for each in column)
    if isinstance(column, Mapping):
        return {name: _rows(each, index) for name, each in column.items()}
    return column[index] if isinstance(column, np.ndarray) else [column[i] for i in index]


def _batch_product(task: Task, kernels: Sequence[tf.Variable]) -> Callable[..., list[tf.Tensor]]:
    """Return a function of inputs, targets and vectors: the product of the loss's Hessian with the vectors, one tensor a kernel."""
    loss = mean_loss(task)

    def of_batch(inputs: Any, targets: Any, vectors: Sequence[tf.Tensor]) -> list[tf.Tensor]:
        with tf.GradientTape(watch_accessed_variables=False) as outer:
            outer.watch(kernels)  # those of frozen layers too
            with tf.GradientTape(watch_accessed_variables=False) as inner:
                inner.watch(kernels)
                value = loss(targets, task(inputs, training=False))
            slopes: Any = inner.gradient(value, kernels, unconnected_gradients=tf.UnconnectedGradients.ZERO)
            along = tf.add_n([tf.reduce_sum(slope * vector) for slope, vector in zip(slopes, vectors, strict=True)])
        found: Any = outer.gradient(along, kernels, unconnected_gradients=tf.UnconnectedGradients.ZERO)
        return found

    return of_batch


def _mean_product(of_batch: Callable[..., list[tf.Tensor]], batches: Sequence[Any]) -> Product:
    """Return the function of vectors to the product of the Hessian of the mean loss over some batches with them."""

    def product(vectors: Sequence[tf.Tensor]) -> list[tf.Tensor]:
        totals, examples = [tf.zeros_like(vector) for vector in vectors], 0
        for inputs, targets, *_ in batches:
            count = int(inputs["input_ids"].shape[0])
            found = of_batch(inputs, targets, list(vectors))
            totals = [total + count * each for total, each in zip(totals, found, strict=True)]
            examples += count
        return [total / examples for total in totals]

    return product


def _mean_eigenvalues(
    groups: Mapping[str, Sequence[tf.Variable]], product: Product, draw: np.random.Generator
) -> dict[str, float]:
    """Return trace / size of the Hessian of each group (Hutchinson 1990): z H z of random signs z, in which other groups cancel out."""
    totals = dict.fromkeys(groups, 0.0)
    for _ in range(_DRAWS):
        signs = [_signs(kernel, draw) for group in groups.values() for kernel in group]
        found = iter(zip(signs, product(signs), strict=True))
        for name, group in groups.items():
            totals[name] += sum(float(tf.reduce_sum(sign * each)) for sign, each in (next(found) for _ in group))
    sizes = {name: sum(kernel.shape.num_elements() for kernel in group) for name, group in groups.items()}
    return {name: total / _DRAWS / sizes[name] for name, total in totals.items()}


def _largest_eigenvalues(
    groups: Mapping[str, Sequence[tf.Variable]], product: Product, draw: np.random.Generator
) -> dict[str, float]:
    """Return the largest eigenvalue in magnitude of the Hessian of each group (power iteration; Shen et al. 2019, algorithm 1)."""
    kernels = [(name, kernel) for name, group in groups.items() for kernel in group]
    found = {}
    for group in groups:
        vectors = [_signs(kernel, draw) if name == group else tf.zeros_like(kernel) for name, kernel in kernels]
        value = 0.0
        for _ in range(_ITERATIONS):
            norm = tf.maximum(tf.linalg.global_norm(vectors), 1e-30)
            vectors = [vector / norm for vector in vectors]
            products = [
                each if name == group else tf.zeros_like(each)
                for (name, _), each in zip(kernels, product(vectors), strict=True)
            ]
            last, value = value, float(tf.add_n([tf.reduce_sum(a * b) for a, b in zip(vectors, products, strict=True)]))
            vectors = products
            if abs(value - last) <= _SETTLED * abs(value):
                break
        found[group] = value
    return found


def _signs(kernel: tf.Variable, draw: np.random.Generator) -> tf.Tensor:
    return tf.constant(draw.choice((-1.0, 1.0), kernel.numpy().shape).astype(np.float32))
