"""The batches of a text stream as a `tf.data` pipeline."""

from collections.abc import Iterator
from contextvars import copy_context

import tensorflow as tf

from kerasbert.processors.base import Inputs
from kerasbert.processors.pretraining_batches import DRAWS, PretrainingBatches
from kerasbert.tasks.inputs import prefetched
from kerasbert.tasks.string_datasets import keep_errors

DEV_ROWS = 2048  # rows of a stream that are evaluated


def stream_dataset(batches: PretrainingBatches, first: int = 0, rows: int | None = None) -> tf.data.Dataset:
    """Return batches as Keras reads them.

    Args:
        batches: The batches.
        first: The number of the first batch.
        rows: The number of rows of one pass, at most, the same ones every time; they are kept in memory. None for batches without end.
    """
    kept: list[tuple[Inputs, dict]] = []
    keep = copy_context()

    def generate() -> Iterator[tuple[Inputs, dict]]:
        with keep.run(keep_errors):
            yield from made()

    def made() -> Iterator[tuple[Inputs, dict]]:
        if rows is None:
            for batch in batches.batches(first):
                yield batch.inputs, batch.labels
            return
        if not kept:
            kept.extend((batch.inputs, batch.labels) for batch in batches.one_pass(rows))
        yield from kept

    tokens = tf.TensorSpec((None, batches.length), tf.int32)
    inputs = {name: tokens for name in ("input_ids", "attention_mask", "token_type_ids")}
    if batches.draws:
        inputs[DRAWS] = tf.TensorSpec((None, batches.length), tf.float32)
    labels = {batches.processor.outputs[0]: tokens}
    if batches.pairing is not None:
        labels[batches.pair_output] = tf.TensorSpec((None,), tf.int32)
    dataset = tf.data.Dataset.from_generator(generate, output_signature=(inputs, labels))
    if rows is None:
        dataset = dataset.apply(tf.data.experimental.assert_cardinality(tf.data.INFINITE_CARDINALITY))
    return prefetched(dataset)
