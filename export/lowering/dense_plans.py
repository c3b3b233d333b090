"""How each Dense layer of a task is stored: its kernel's digest, and the ranges that training found."""

from kerasbert.errors import KerasBertError
from kerasbert.export.passes.context import DensePlan
from kerasbert.export.passes.quantize import digest
from kerasbert.layers.attention import SelfAttention
from kerasbert.layers.heads import MaskedLMHead
from kerasbert.layers.traversal import dense_layers, sublayers
from kerasbert.tasks.base import Task


def dense_plans(task: Task, twin: Task, static: bool) -> list[DensePlan]:
    """One plan for each call of each Dense layer, in the order of the graph; with trained ranges when `static`.

    twin: the float copy that is traced, see `export_twin`.
    """
    scales = {attention.query.path: attention.scale for attention in sublayers(task, SelfAttention)}
    unserved = {*task.unserved, *(() if task.pools else ("pooler",))}
    plans = []
    for trained, stored in zip(dense_layers(task), dense_layers(twin), strict=True):
        if trained.path in unserved:
            continue
        if static and bool(trained.input_quantizer.ranges) != bool(trained.output_quantizer.ranges):
            raise KerasBertError(
                f"{trained.path}: expected a policy with static ranges on both sides of a dense, or on none; received one side"
            )
        kernel = digest(stored.served_kernel().numpy().T)
        for reads, writes in _ranges(trained) if static else [(None, None)] * trained.input_quantizer.num_calls:
            if writes is not None:  # the query's output is stored scaled
                writes = tuple(bound * scales.get(trained.path, 1.0) for bound in writes)
            plans.append(DensePlan(trained.path, kernel, reads, writes))
    return plans + [plan for head in sublayers(twin, MaskedLMHead) for plan in _decoder_plans(head, twin)]


def _decoder_plans(head: MaskedLMHead, twin) -> list[DensePlan]:
    """The products of a masked-LM head that are no dense layers: with the word table or a decoder of its own, and with what lies beside."""
    words = twin.encoder.embeddings.word.table if head.decoder is None else head.decoder
    plans = [DensePlan("masked_lm.decoder", digest(words.numpy()))]
    if head.further_decoder is not None:
        plans.append(DensePlan("masked_lm.further_decoder", digest(head.further_decoder.numpy().T)))
    return plans


def _ranges(dense) -> list[tuple]:
    """What a dense reads and writes, a pair of ranges for each of its calls."""
    if not dense.input_quantizer.ranges:
        return [(None, None)] * dense.input_quantizer.num_calls
    sides = (
        [tuple(map(float, bounds)) for bounds in point.ranges]
        for point in (dense.input_quantizer, dense.output_quantizer)
    )
    return list(zip(*sides, strict=True))
