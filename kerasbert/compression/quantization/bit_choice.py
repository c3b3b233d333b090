"""4 or 8 bits for each kernel, by the curvature of the loss (Shen et al. 2019, "Q-BERT")."""

import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import tensorflow as tf

from kerasbert.compression.quantization.hessian import curvatures
from kerasbert.compression.quantization.policies import POLICIES
from kerasbert.compression.quantization.policy_checks import unserved_layers
from kerasbert.errors import KerasBertError
from kerasbert.layers.dense import Dense
from kerasbert.layers.quantization.policy import QuantizationPolicy
from kerasbert.layers.quantization.weight_quantizers import KernelFakeQuant
from kerasbert.layers.traversal import dense_layers
from kerasbert.tasks.base import Task
from kerasbert.values import is_number

RECIPE = "dynamic_wi4_afp32"
_FEW, _MANY = 4, 8


@dataclass(frozen=True)
class KernelSensitivity:
    """How much the loss depends on a kernel, or on the kernels of a transformer layer.

    Attributes:
        path: The path of the Dense layer, or of the transformer layer.
        weights: Number of weights.
        mean: The mean of the curvature over parts of the data.
        deviation: Its standard deviation.
        error: The sum of squared differences of the weights and their values in 4 bits.
        cost: The rise of the loss that curvature and error predict in 4 bits: half of (|mean| + deviation) times the error.
        bits: 4 or 8.

    Example:
        ```python
        from kerasbert.compression import choose_bits
        choice = choose_bits(task, (texts, labels), average_bits=6, parts=2)
        choice.kernels[0].cost
        ```
    """

    path: str
    weights: int
    mean: float
    deviation: float
    error: float
    cost: float
    bits: int


@dataclass(frozen=True)
class BitChoice:
    """The bits of all kernels.

    Attributes:
        policy: The policy for `quantize`.
        kernels: The kernels, or transformer layers, in the order of the model.
        average_bits: The mean over all weights of kernels.

    Example:
        ```python
        from kerasbert.compression import choose_bits, quantize
        choice = choose_bits(task, (texts, labels), average_bits=6, parts=2)
        mixed = quantize(task, choice.policy)
        ```
    """

    policy: QuantizationPolicy
    kernels: tuple[KernelSensitivity, ...]
    average_bits: float


def choose_bits(
    task: Task,
    data: Any,
    average_bits: float = 6.0,
    measure: str = "trace",
    parts: int = 4,
    rows: int = 64,
    batch_size: int = 32,
    seed: int = 0,
    block: int | None = None,
) -> BitChoice:
    """Choose 4 or 8 bits for each kernel, so that their mean is at most `average_bits` and the predicted rise of the loss is small.

    The curvature of the loss is found on several parts of the data. As in Q-BERT (Shen et al. 2019, section 3.1) a kernel counts as
    sensitive if its curvature is large, or differs from part to part: |mean| + standard deviation. Times half of the squared rounding error
    it predicts the rise of the loss in 4 bits (Dong et al. 2020, HAWQ-V2). Kernels with the largest rise for each weight get 8 bits first.

    Args:
        task: The task, in float and trained.
        data: Labelled examples: a table of `kerasbert.data`, or `(examples, labels)`; examples alone for a masked language model.
        average_bits: The mean bits of a kernel's weight, from 4 to 8.
        measure: `trace`: the mean eigenvalue of the Hessian, for each Dense layer. `eigenvalue`: the largest one, for each transformer
            layer and each other Dense layer, as in the paper; that takes many times as long.
        parts: Number of parts.
        rows: Examples in a part, spread evenly over the data.
        batch_size: Examples in a batch.
        seed: Of the random vectors.
        block: Inputs of a channel that share a scale in kernels of 4 bits, see `QuantizationPolicy.kernel_block`.

    Returns:
        The choice, whose policy has the recipe `dynamic_wi4_afp32`.

    Raises:
        KerasBertError: When the task is quantized or has no loss, when the data have no labels, no known token or fewer examples than
            parts, when the mean is not from 4 to 8, and when the measure is unknown.

    Example:
        ```python
        choice = kb.compression.choose_bits(task, (texts, labels), average_bits=6, parts=2)
        [(kernel.path, kernel.bits) for kernel in choice.kernels]
        ```
    """
    if not is_number(average_bits, _FEW, _MANY):
        raise KerasBertError(
            f"expected a mean of {_FEW} to {_MANY} bits, received {average_bits!r}; choose one of these"
        )
    policy = replace(POLICIES[RECIPE], kernel_block=block)
    groups = _groups(task, measure)
    kernels = {path: [dense.kernel for dense in group] for path, group in groups.items()}
    found = curvatures(task, kernels, data, measure, parts, rows, batch_size, seed)
    kernels = [_sensitivity(path, kernels[path], found[path], policy) for path in groups]
    kernels = _spend(kernels, average_bits)
    rules = tuple(
        (f"{dense.path}.kernel", _MANY) for each in kernels if each.bits == _MANY for dense in groups[each.path]
    )
    total = sum(each.weights for each in kernels)
    mean = sum(each.bits * each.weights for each in kernels) / total
    return BitChoice(replace(policy, kernel_rules=rules or None), tuple(kernels), mean)


def _groups(task: Task, measure: str) -> dict[str, list[Dense]]:
    """Return the Dense layers that `serve` uses by their path; for eigenvalues, by that of their transformer layer where they have one."""
    groups: dict[str, list[Dense]] = {}
    unserved = unserved_layers(task)
    for dense in dense_layers(task):
        if dense.path not in unserved:
            block = re.match(r"layers\.\d+", dense.path) if measure == "eigenvalue" else None
            groups.setdefault(block[0] if block else dense.path, []).append(dense)
    return groups


def _sensitivity(
    path: str, kernels: list[tf.Variable], values: np.ndarray, policy: QuantizationPolicy
) -> KernelSensitivity:
    mean, deviation, quantizer = float(values.mean()), float(values.std()), KernelFakeQuant(policy, path)
    error = sum(float(tf.reduce_sum(tf.square(quantizer.quantized(tf.convert_to_tensor(k)) - k))) for k in kernels)
    weights = sum(kernel.shape.num_elements() for kernel in kernels)
    return KernelSensitivity(path, weights, mean, deviation, error, (abs(mean) + deviation) * error / 2, _FEW)


def _spend(kernels: list[KernelSensitivity], average_bits: float) -> list[KernelSensitivity]:
    """Give 8 bits to the kernels with the largest predicted rise for each weight, while the mean allows it."""
    left = (average_bits - _FEW) / (_MANY - _FEW) * sum(each.weights for each in kernels)
    raised = set()
    for each in sorted(kernels, key=lambda each: -each.cost / each.weights):
        if each.weights <= left:
            raised.add(each.path)
            left -= each.weights
    return [replace(each, bits=_MANY) if each.path in raised else each for each in kernels]
