"""Weights that make up for removed hidden dimensions, by least squares on what the layers of the whole model read.

A Dense layer gets the part of the removed dimensions that is linear in the remaining ones. A layer norm takes mean and variance over fewer
dimensions; its scale and shift are fitted so that each remaining dimension has the values that it had.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from kerasbert.capture import captured
from kerasbert.compression.labelled_loss import split_labels
from kerasbert.compression.pruning.structured.hidden_axes import Axes
from kerasbert.compression.pruning.structured.input_moments import Moments, input_moments
from kerasbert.compression.quantization.calibration_rows import CALIBRATION_ROWS
from kerasbert.compression.quantization.observers import attended_values, pack_rows
from kerasbert.data.sampling import spread
from kerasbert.layers.norms import LayerNorm
from kerasbert.layers.traversal import dense_layers, sublayers
from kerasbert.processors import Features
from kerasbert.tasks.base import Task

_RIDGE = 1e-2  # of the mean variance of a dimension: a pooled vector has few rows
_SMALLEST = 1e-9  # variance

Weights = dict[str, np.ndarray]


def refit(task: Task, axes: Axes, chosen: Mapping[str, np.ndarray], data: Any, batch_size: int) -> Weights:
    """Return the weights that are fitted, with the remaining dimensions only on the axes that were fitted.

    Args:
        task: The whole task, in float.
        axes: The axes that are cut.
        chosen: The indices that stay, by what an axis holds.
        data: Examples with or without labels, of which some are used.
        batch_size: Examples in a batch.
    """
    copy = task.with_policy(None)  # leaves the caller's task without observers
    paths = {id(variable): path for path, variable in copy.variables_by_path().items()}
    readers = {
        dense.path: dense for dense in dense_layers(copy) if axes.get(paths.get(id(dense.kernel), ""), (None,))[0]
    }
    norms = {norm.path: norm for norm in sublayers(copy, LayerNorm) if paths.get(id(norm.gamma)) in axes}
    kept_of_norms = {path: chosen[axes[paths[id(norm.gamma)]][0] or ""] for path, norm in norms.items()}
    features = copy.features(split_labels(task, data)[0])[1]
    moments = input_moments(copy, list(readers), features, batch_size)
    sums = _norm_sums(copy, kept_of_norms, features, batch_size)
    fitted: Weights = {}
    for dense in readers.values():
        kernel = paths[id(dense.kernel)]
        values, bias = dense.kernel.numpy(), None if dense.bias is None else dense.bias.numpy()
        indices = chosen[axes[kernel][0] or ""]
        fitted[kernel], shift = _folded(values, indices, moments[dense.path], centered=bias is not None)
        if bias is not None:
            fitted[paths[id(dense.bias)]] = bias + shift
    for path, terms in sums.items():
        scale, shift = _fitted_norm(terms, norms[path].has_bias)
        fitted[paths[id(norms[path].gamma)]] = scale
        if norms[path].has_bias:
            fitted[paths[id(norms[path].beta)]] = shift
    return fitted


def _folded(kernel: np.ndarray, kept: np.ndarray, moments: Moments, centered: bool) -> tuple[np.ndarray, np.ndarray]:
    """The rows of a kernel (H, out) that stay, with what they take over, and the change of the bias (out,)."""
    gone = np.setdiff1d(np.arange(len(kernel)), kept)
    covariance = moments.covariance if centered else moments.second_moment
    inner = covariance[np.ix_(kept, kept)]
    ridge = max(_RIDGE * float(np.trace(inner)) / len(kept), _SMALLEST)
    slopes = np.linalg.solve(inner + ridge * np.eye(len(kept)), covariance[np.ix_(kept, gone)])  # (kept, gone)
    shift = (moments.mean[gone] - moments.mean[kept] @ slopes) @ kernel[gone]
    return (kernel[kept] + slopes @ kernel[gone]).astype(np.float32), shift.astype(np.float32)


def _norm_sums(
    task: Task, kept: Mapping[str, np.ndarray], features: Features, batch_size: int
) -> dict[str, np.ndarray]:
    """The sums of the fit of each norm, (5, kept), by path."""
    sums: dict[str, np.ndarray] = {}
    index = spread(len(features), CALIBRATION_ROWS).tolist()
    for start in range(0, len(index) if kept else 0, batch_size):
        inputs = pack_rows(task, features, index[start : start + batch_size])
        attended = inputs["attention_mask"].numpy().astype(bool)
        with captured() as tensors:
            task(inputs, training=False)
        for path, x, y in tensors["norm"]:
            if path in kept:
                x, y = (attended_values(values.numpy(), attended)[0][:, kept[path]] for values in (x, y))
                sums[path] = sums.get(path, 0) + _norm_terms(x, y)
    return sums


def _norm_terms(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The sums, (5, kept), of a fit of outputs y (n, kept) to inputs x (n, kept) that are normalized over what is kept."""
    x, y = x.astype(np.float64), y.astype(np.float64)
    x = x - x.mean(1, keepdims=True)
    x = x / np.sqrt(np.maximum(np.square(x).mean(1, keepdims=True), _SMALLEST))
    return np.stack([np.full(x.shape[1], len(x)), x.sum(0), y.sum(0), (x * x).sum(0), (x * y).sum(0)])


def _fitted_norm(terms: np.ndarray, shifted: bool) -> tuple[np.ndarray, np.ndarray]:
    """The scale and the shift, (kept,)."""
    count, x, y, xx, xy = terms
    if not shifted:
        return (xy / np.maximum(xx, _SMALLEST)).astype(np.float32), np.zeros(len(x), np.float32)
    scale = (xy - x * y / count) / np.maximum(xx - x * x / count, _SMALLEST)
    return scale.astype(np.float32), ((y - scale * x) / count).astype(np.float32)
