"""Plans for the Dense layers of a task: the digest of each kernel, and the ranges that training found."""

from typing import TypeAlias

from kerasbert.compression.quantization.policy_checks import check_both_sides, unserved_layers
from kerasbert.export.passes.context import DensePlan
from kerasbert.export.passes.quantize import digest
from kerasbert.layers.blocks.heads import MaskedLMHead
from kerasbert.layers.blocks.transformer_block import SelfAttention
from kerasbert.layers.dense import Dense
from kerasbert.layers.traversal import dense_layers, sublayers
from kerasbert.tasks.base import Task

_Range: TypeAlias = tuple[float, float] | None


def dense_plans(task: Task, twin: Task, static: bool) -> list[DensePlan]:
    """Plan every call of every Dense layer, in the order of the graph.

    Args:
        task: The trained task.
        twin: The float copy that is traced, see `export_twin`.
        static: Whether plans have trained ranges.

    Raises:
        KerasBertError: when a layer has a static range on one side only.
    """
    attention_scales = {attention.query.path: attention.scale for attention in sublayers(task, SelfAttention)}
    unserved = unserved_layers(task)
    plans, policy = [], task.policy
    for trained, stored in zip(dense_layers(task), dense_layers(twin), strict=True):
        if trained.path in unserved:
            continue
        if static:
            check_both_sides(trained)
        kernel, num_calls = digest(stored.served_kernel().numpy().T), trained.input_quantizer.num_calls
        # A layer in a user's head may be called several times, with the same ranges.
        repeats = getattr(trained, "calls", 1)
        bits = block = None  # those of the recipe
        if policy is not None and (policy.kernel_rules or policy.kernel_block):
            bits, block = trained.kernel_quantizer.bits, trained.kernel_quantizer.block(trained.kernel.shape[0])
        ranges = (_ranges(trained) if static else [(None, None)] * num_calls) * repeats
        for call, (input_range, output_range) in enumerate(ranges):
            if output_range is not None:  # the stored query kernel carries the scale of attention
                low, high = (bound * attention_scales.get(trained.path, 1.0) for bound in output_range)
                output_range = (low, high)
            plans.append(DensePlan(trained.path, kernel, input_range, output_range, bits, block, call))
    return plans + [plan for head in sublayers(twin, MaskedLMHead) for plan in _decoder_plans(head, twin)]


def _decoder_plans(head: MaskedLMHead, twin: Task) -> list[DensePlan]:
    """Plan the matrix products of a masked-LM head that are no Dense layers: the decoder, tied to the embeddings or not."""
    decoder = twin.encoder.embeddings.word.table if head.decoder is None else head.decoder
    plans = [DensePlan("masked_lm.decoder", digest(decoder.numpy()))]
    if head.further_decoder is not None:
        plans.append(DensePlan("masked_lm.further_decoder", digest(head.further_decoder.numpy().T)))
    return plans


def _ranges(dense: Dense) -> list[tuple[_Range, _Range]]:
    """Return the ranges of input and output for each call of a Dense layer."""
    if not dense.input_quantizer.ranges:
        return [(None, None)] * dense.input_quantizer.num_calls
    inputs, outputs = (
        [(float(low), float(high)) for low, high in quantizer.ranges]
        for quantizer in (dense.input_quantizer, dense.output_quantizer)
    )
    return list(zip(inputs, outputs, strict=True))
