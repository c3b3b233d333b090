"""Lowers a task with a trained 8-bit range for every activation to a `.tflite` file that computes in integers only.

Such files are for processors without floating point: int32 ids in, int8 in between, float32 results out. The traced graph has the ranges as
fake quantization, and TFLite's converter makes integer operators of everything between them. A static file (`passes.quantize`) keeps
softmax, norms and GELU in float instead. That costs less accuracy, and less time on processors with floating point.
"""

from dataclasses import replace

import numpy as np

from kerasbert.errors import KerasBertError
from kerasbert.export.lowering.targets import Target
from kerasbert.export.lowering.tracing import copy_equalizers, fold_attention_scale
from kerasbert.layers.blocks.transformer_block import SelfAttention
from kerasbert.layers.embedding_table import EmbeddingTable
from kerasbert.layers.quantization.activation_quantizers import activation_quantizers
from kerasbert.layers.traversal import sublayers
from kerasbert.tasks.base import Task


def integer_twin(task: Task) -> Task:
    """Copy a task to the values that an integer-only file stores.

    Tables lie on their quantization grid, ranges are constants, and query kernels carry the scale of attention. Kernels stay in float: the
    converter quantizes them to the grid that training emulated, per channel, and refuses kernels that are already fake-quantized.

    Raises:
        KerasBertError: when the task has no quantization policy.
    """
    if task.policy is None:
        raise KerasBertError(
            "expected a task that was quantized with integer_only, received one in float; quantize it first"
        )
    twin = task.with_policy(replace(task.policy, kernels=False))
    for copied, trained in zip(activation_quantizers(twin), activation_quantizers(task), strict=True):
        copied.ranges = list(trained.ranges)
        copied.freeze_ranges()
    copy_equalizers(task, twin)
    for copied, trained in zip(sublayers(twin, EmbeddingTable), sublayers(task, EmbeddingTable), strict=True):
        copied.table.assign(trained.served_table())
        copied.write_to(None)  # the stored table has its equalization scales already
        copied.bound = float(np.abs(copied.table.numpy()).max())
    fold_attention_scale(twin)
    for attention in sublayers(twin, SelfAttention):
        quantizer = attention.query.output_quantizer
        quantizer.ranges = [tuple(bound * attention.scale for bound in bounds) for bounds in quantizer.ranges]
    return twin


def integer_target(target: Target) -> Target:
    """Return the target with lowering options for integer operators, which have no range of 16-bit floats to keep."""
    integer = {"integer": True, "half_range": False}
    resizable = target.resizable and replace(target.resizable, **integer)
    return replace(target, fixed=replace(target.fixed, **integer), resizable=resizable)
