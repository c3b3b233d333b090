"""A task whose every activation has a trained 8-bit range, to a `.tflite` that computes in integers throughout.

For processors without floating point: int32 ids in, int8 between, the result back in float32. The ranges stand in the graph that is
traced, as fake quantization, and TFLite's converter makes integer operators of everything between them. A static file (`quantize_file`)
keeps softmax, norms and GELU in float instead, which costs less accuracy, and less time on processors that have float.
"""

from dataclasses import replace

import numpy as np

from kerasbert.export.targets import Target
from kerasbert.layers.attention import SelfAttention
from kerasbert.layers.embedding_table import EmbeddingTable
from kerasbert.layers.quantization.activation_quantizers import activation_quantizers
from kerasbert.layers.traversal import sublayers


def integer_twin(task):
    """A copy of the task as the file stores it: tables on their grid, ranges as constants, attention's scale in the query kernels.

    Kernels stay in float: the converter puts them on the grid that training saw, a scale for each channel, and refuses any that has been
    there before.
    """
    twin = task.with_policy(replace(task.policy, kernels=False))
    for mine, theirs in zip(activation_quantizers(twin), activation_quantizers(task), strict=True):
        mine.ranges = list(theirs.ranges)
        mine.freeze_ranges()
        if theirs.equalizer is not None:
            mine.equalizer.assign(theirs.equalizer)
    for mine, theirs in zip(sublayers(twin, EmbeddingTable), sublayers(task, EmbeddingTable), strict=True):
        mine.table.assign(theirs.served_table())
        mine.write_to(None)  # it is scaled already
        mine.bound = float(np.abs(mine.table.numpy()).max())
    for attention in sublayers(twin, SelfAttention):
        for weight in (attention.query.kernel, attention.query.bias):
            weight.assign(weight * attention.scale)
        point = attention.query.output_quantizer
        point.ranges = [tuple(bound * attention.scale for bound in bounds) for bounds in point.ranges]
    return twin


def integer_target(target: Target) -> Target:
    """The target with a graph of which integer operators can be made."""
    resizable = target.resizable and replace(target.resizable, integer=True)
    return replace(target, fixed=replace(target.fixed, integer=True), resizable=resizable)
