"""From token rows to the batches that Keras is fed with."""

import numpy as np
import tensorflow as tf

from kerasbert.data.batching import LengthBatches, padded_length
from kerasbert.errors import KerasBertError
from kerasbert.ids import INPUT_NAMES, check_ids
from kerasbert.processors.features import IGNORED, Features, TokenLists

AHEAD = 4  # batches that are prepared while the model works on one


def is_packed(x) -> bool:
    """True for a dict with `input_ids`: already tokenized."""
    return isinstance(x, dict) and "input_ids" in x


def packed_features(task, x) -> Features:
    """The rows of packed arrays, (rows, length) or (rows, group, length), without their padding."""
    ids = np.asarray(x["input_ids"])
    mask = np.asarray(x.get("attention_mask", np.ones_like(ids)))
    types = np.asarray(x.get("token_type_ids", np.zeros_like(ids)))
    if ids.ndim not in (2, 3) or mask.shape != ids.shape or types.shape != ids.shape:
        raise KerasBertError(
            "expected input_ids, attention_mask and token_type_ids of one shape (rows, length), received "
            f"{ids.shape}, {mask.shape}, {types.shape}"
        )
    group = ids.shape[1] if ids.ndim == 3 else 1
    examples = np.arange(len(ids))
    ids, mask, types = (values.reshape(-1, values.shape[-1]) for values in (ids, mask, types))
    check_ids(ids, task.config.vocab_size, type(task).__name__)
    lengths = mask.sum(1)
    if not np.array_equal(mask, np.arange(ids.shape[1]) < lengths[:, None]):
        raise KerasBertError("expected an attention_mask of ones, then zeros in each row, received another pattern")
    if lengths.size and lengths.max() > task.sequence_length:
        raise KerasBertError(
            f"expected packed rows of at most {task.sequence_length} tokens (sequence_length), received {lengths.max()}"
        )
    unpadded = ([row[:n] for row, n in zip(side, lengths, strict=True)] for side in (ids, types))
    return Features(TokenLists(*unpadded), examples, group)


def batches(
    task,
    features: Features,
    targets=None,
    weights=None,
    *,
    batch_size: int,
    shuffle: bool = False,
    seed: int = 0,
    start: tuple[int, int] = (0, 0),
    full: bool = False,
    inputs_only: bool = False,
) -> tuple[tf.data.Dataset, LengthBatches]:
    """A dataset of (packed inputs[, targets[, weights]]) whose batches hold rows of like length, and the row order behind it.

    targets: as `Processor.targets` gives them; a self-supervised processor makes its own unless `inputs_only`. weights: one an example.
    start: the epoch and the batch in it to begin with. full: pad every batch to the task's `sequence_length`.
    """
    if not len(features):
        raise KerasBertError("expected at least one text, received none")
    if weights is not None:
        weights = _weights(weights, features)
    order, few = LengthBatches(features.lengths, batch_size, shuffle, seed, start), few_lengths(task)
    processor, pad_id = task.processor, task.config.pad_token_id
    corrupts = processor.self_supervised and targets is None and not inputs_only

    def generate():
        for (number, batch), index in order.numbered():
            longest = task.sequence_length if full else int(features.lengths[index].max())
            length = padded_length(longest, task.sequence_length, few=few)
            inputs, wanted = features.pack(index, length, pad_id), None
            if corrupts:
                random = np.random.default_rng((seed, number if shuffle else 0, batch))
                inputs, wanted = processor.corrupt(inputs, task.tokenizer, random)
            elif targets is not None:
                wanted = _chosen(targets, index, length)
            yield tuple(
                part for part in (inputs, wanted, None if weights is None else weights[index]) if part is not None
            )

    shape = (None,) * (2 if features.group == 1 else 3)
    signature = [{name: tf.TensorSpec(shape, tf.int32) for name in INPUT_NAMES}]
    if corrupts:
        signature.append(tf.TensorSpec((None, None), tf.int32))
    elif targets is not None:
        signature.append(_spec(targets))
    if weights is not None:
        signature.append(tf.TensorSpec((None,), tf.float32))
    dataset = tf.data.Dataset.from_generator(generate, output_signature=tuple(signature))
    return fed(dataset.apply(tf.data.experimental.assert_cardinality(len(order)))), order


def few_lengths(task) -> bool:
    """Whether batches are padded to few lengths: XLA compiles for every length anew, and a TPU always uses it."""
    return bool(task.jit_compile) or isinstance(task.distribute_strategy, tf.distribute.TPUStrategy)


def fed(dataset: tf.data.Dataset) -> tf.data.Dataset:
    """Prepared ahead of the model, without tf.data's tuning: at the end of a pass TensorFlow waits for the tuner's thread, which wakes
    after 0.6, 1.3, 2.6, 5.1, 10.2, 20.5, 41 seconds and then once a minute. A pass of 5.5 seconds took 10.2."""
    options = tf.data.Options()
    options.autotune.enabled = False
    return dataset.prefetch(AHEAD).with_options(options)


def _weights(weights, features: Features) -> np.ndarray:
    weights, examples = np.asarray(weights, np.float32), int(features.example.max(initial=-1)) + 1
    if len(weights) != examples:
        raise KerasBertError(
            f"expected one of the sample weights for each text, received {len(weights)} for {examples} texts"
        )
    return weights[features.example]


def _chosen(targets, index: np.ndarray, length: int):
    """The targets of some rows, those that belong to tokens padded."""
    if isinstance(targets, dict):
        return {name: _chosen(values, index, length) for name, values in targets.items()}
    if isinstance(targets, np.ndarray):
        return targets[index]
    padded = np.full((len(index), length), IGNORED, np.int32)
    for row, i in enumerate(index):
        padded[row, : len(targets[i])] = targets[i]
    return padded


def _spec(targets):
    if isinstance(targets, dict):
        return {name: _spec(values) for name, values in targets.items()}
    if isinstance(targets, np.ndarray):
        return tf.TensorSpec((None, *targets.shape[1:]), targets.dtype)
    return tf.TensorSpec((None, None), tf.int32)
