"""Features to the batches that Keras reads."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeGuard

import numpy as np
import tensorflow as tf
import tf_keras as keras

from kerasbert.arguments import check_whole_number, shown
from kerasbert.data.batching import LengthBatches, padded_length
from kerasbert.errors import KerasBertError
from kerasbert.ids import INPUT_NAMES, check_ids
from kerasbert.processors.arrays import as_finite_numbers
from kerasbert.processors.base import Inputs
from kerasbert.processors.features import IGNORED, Features, TokenLists

_KERAS_SEQUENCES = {
    "Sequence",
    "PyDataset",
    "DataLoader",
    "IterableDataset",
}  # classes of Keras 2 and 3, of PyTorch and of datasets
AHEAD = 4  # batches that are prepared while the model works on one
_MASKED_SPEC = tf.TensorSpec((None, None), tf.int32)  # of labels that a self-supervised processor makes

# Encoded labels, as `Processor.encode_labels` returns them.
EncodedLabels = np.ndarray | Sequence[np.ndarray] | dict[str, Any]


_BATCH_SIZE = 32


def rows_in_batch(batch_size: int | None) -> int:
    """Return the number of rows in a batch: by default 32.

    Raises:
        KerasBertError: When it is not a whole number of at least 1.
    """
    return _BATCH_SIZE if batch_size is None else check_whole_number(batch_size, "a batch_size")


def called_inputs(inputs: Any, task: str) -> dict[str, Any]:
    """Return the inputs of a call of a task as a Keras layer, by name.

    Args:
        inputs: Arrays or tensors of token ids and more by input name, or token ids alone.
        task: The name of the task's class.

    Raises:
        KerasBertError: When they are something else, such as texts.
    """
    named = inputs if isinstance(inputs, Mapping) else {"input_ids": inputs}
    try:
        arrays = {name: value if hasattr(value, "dtype") else np.asarray(value) for name, value in named.items()}
        if ("input_ids" in arrays or "hidden" in arrays) and all(map(_is_numbers, arrays.values())):
            return arrays
    except (TypeError, ValueError, OverflowError, RecursionError):
        pass
    received = shown(inputs)
    if named is inputs:
        received = f"a dict with {', '.join(map(shown, list(named)[:3])) or 'no keys'}"
    raise KerasBertError(
        f"expected packed inputs, a dict of input_ids and more as arrays (rows, length), for a call of {task}, received {received}; "
        "call predict with texts"
    )


def _is_numbers(value: Any) -> bool:
    """Return whether an array or a tensor is one of numbers with at least two axes."""
    dtype, rank = tf.as_dtype(value.dtype), tf.TensorShape(value.shape).rank
    return (dtype.is_integer or dtype.is_floating) and (rank is None or rank >= 2)


def is_packed(x: object) -> TypeGuard[dict[str, Any]]:
    """Tell whether x is packed inputs: a dict with `input_ids`."""
    return isinstance(x, dict) and "input_ids" in x


def check_containers(x: object, y: object = None) -> None:
    """Refuse generators, iterators and Keras' `Sequence`, whose examples cannot be counted, sorted by length or read twice.

    Args:
        x: The examples.
        y: The labels, or None.

    Raises:
        KerasBertError: When one of the two is such an object.
    """
    for name, values in (("examples", x), ("labels", y)):
        if hasattr(values, "__next__") or _KERAS_SEQUENCES & {each.__name__ for each in type(values).__mro__}:
            raise KerasBertError(
                f"expected {name} as a list, a dataset of kerasbert.data or a tf.data.Dataset, received a {type(values).__name__}; put "
                "them into a list, or use tf.data.Dataset.from_generator"
            )


def packed_features(task: keras.Model, x: Mapping[str, Any]) -> Features:
    """Return the rows of packed arrays without their padding.

    Args:
        task: The task that reads them.
        x: int arrays `(rows, length)` or `(rows, group, length)` by input name; only `input_ids` is required.

    Raises:
        KerasBertError: When shapes differ, rows are too long, ids are outside the vocabulary, or padding is not at the end.
    """
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
    return Features(TokenLists(_without_padding(ids, lengths), _without_padding(types, lengths)), examples, group)


def _without_padding(rows: np.ndarray, lengths: np.ndarray) -> list[Any]:
    return [row[:length] for row, length in zip(rows, lengths, strict=True)]


def batches(
    task: keras.Model,
    features: Features,
    labels: EncodedLabels | None = None,
    weights: Sequence[float] | np.ndarray | None = None,
    *,
    batch_size: int,
    shuffle: bool = False,
    seed: int = 0,
    start: tuple[int, int] = (0, 0),
    full: bool = False,
    inputs_only: bool = False,
) -> tuple[tf.data.Dataset, LengthBatches]:
    """Return batches of rows of similar length.

    Args:
        task: The task that reads them.
        features: The rows.
        labels: Encoded labels; see `Processor.encode_labels`. A self-supervised processor makes its own ones.
        weights: One sample weight for each example.
        batch_size: Rows in a batch.
        shuffle: Whether each epoch has another order.
        seed: Random seed of the orders and of the masks.
        start: The epoch, and the number of its batches to skip.
        full: Pad every batch to the task's `sequence_length`.
        inputs_only: Leave labels out, the processor's own ones too.

    Returns:
        A dataset of `(packed inputs[, labels[, weights]])`, and the order of the rows in it.

    Raises:
        KerasBertError: When there are no rows, or not one weight for each example.
    """
    if not len(features):
        raise KerasBertError("expected at least one text, received none; give the task some texts")
    row_weights = None if weights is None else _row_weights(weights, features)
    order = LengthBatches(features.lengths, batch_size, shuffle, seed, start, features.topics)
    few, processor, pad_id = few_lengths(task), task.processor, task.config.pad_token_id
    # A self-supervised processor makes the labels of its first output; labels that are given are those of other outputs, or all.
    joins = isinstance(labels, dict) and processor.outputs[0] not in labels
    corrupts = processor.self_supervised and (labels is None or joins) and not inputs_only

    def generate() -> Iterator[tuple]:
        for (number, batch), index in order.numbered():
            longest = task.sequence_length if full else int(features.lengths[index].max())
            length = padded_length(longest, task.sequence_length, few=few)
            inputs, batch_labels = features.pack(index, length, pad_id), None
            if labels is not None:
                batch_labels = _select_labels(labels, index, length)
            if corrupts:
                random = np.random.default_rng((seed, number if shuffle else 0, batch))
                alignment = [features.alignment[row] for row in index] if len(features.alignment) else ()
                inputs, masked = processor.corrupt(inputs, task.tokenizer, random, alignment)
                batch_labels = {processor.outputs[0]: masked, **(batch_labels or {})} if joins else masked
            batch_weights = None if row_weights is None else row_weights[index]
            yield tuple(part for part in (inputs, batch_labels, batch_weights) if part is not None)

    shape = (None,) * (2 if features.group == 1 else 3)
    inputs_spec = {name: tf.TensorSpec(shape, tf.int32) for name in INPUT_NAMES}
    labels_spec: Any = None if labels is None else _spec(labels)
    if corrupts:
        labels_spec = {processor.outputs[0]: _MASKED_SPEC, **labels_spec} if joins else _MASKED_SPEC
    weights_spec = None if weights is None else tf.TensorSpec((None,), tf.float32)
    signature = tuple(spec for spec in (inputs_spec, labels_spec, weights_spec) if spec is not None)
    dataset = tf.data.Dataset.from_generator(generate, output_signature=signature)
    return prefetched(dataset.apply(tf.data.experimental.assert_cardinality(len(order)))), order


def packed_batches(task: keras.Model, features: Features, batch_size: int) -> Iterator[tuple[np.ndarray, Inputs]]:
    """Yield batches for inference, the longest rows first. A pipeline of tf.data would leave its traces in memory.

    Args:
        task: The task that reads them.
        features: The rows.
        batch_size: Rows in a batch.

    Yields:
        The numbers of the rows in a batch, and their packed inputs.
    """
    for index in LengthBatches(features.lengths, batch_size):
        longest = int(features.lengths[index].max())
        length = padded_length(longest, task.sequence_length, few=few_lengths(task))
        yield index, features.pack(index, length, task.config.pad_token_id)


def few_lengths(task: keras.Model) -> bool:
    """Tell whether batches are padded to few lengths: XLA compiles for every length anew, and a TPU always uses it."""
    return bool(task.jit_compile) or isinstance(task.distribute_strategy, tf.distribute.TPUStrategy)


def prefetched(dataset: tf.data.Dataset) -> tf.data.Dataset:
    """Return the dataset with batches prepared ahead of the model, without tf.data's autotuning.

    At the end of an epoch TensorFlow waits for the autotuner's thread. It wakes after 0.6, 1.3, 2.6, 5.1, 10.2, 20.5 and 41 seconds, and
    then once a minute: an epoch of 5.5 seconds took 10.2.
    """
    options = tf.data.Options()
    options.autotune.enabled = False
    return dataset.prefetch(AHEAD).with_options(options)


def _row_weights(weights: Sequence[float] | np.ndarray, features: Features) -> np.ndarray:
    """Return the weight of each row, from the weights of the examples."""
    example_weights, examples = as_finite_numbers(weights, "sample weights"), int(features.example.max(initial=-1)) + 1
    if example_weights.shape != (examples,):
        raise KerasBertError(
            f"expected one of the sample weights for each text, received {example_weights.shape} for {examples} texts"
        )
    return example_weights[features.example]


def _select_labels(labels: EncodedLabels, index: np.ndarray, length: int) -> Any:
    """Return the labels of some rows; labels of tokens are padded to the length."""
    if isinstance(labels, dict):
        return {name: _select_labels(values, index, length) for name, values in labels.items()}
    if isinstance(labels, np.ndarray):
        return labels[index]
    padded = np.full((len(index), length), IGNORED, np.int32)
    for row, i in enumerate(index):
        padded[row, : len(labels[i])] = labels[i]
    return padded


def _spec(labels: EncodedLabels) -> Any:
    if isinstance(labels, dict):
        return {name: _spec(values) for name, values in labels.items()}
    if isinstance(labels, np.ndarray):
        return tf.TensorSpec((None, *labels.shape[1:]), labels.dtype)
    return tf.TensorSpec((None, None), tf.int32)
