"""`tf.data` pipelines of texts: tokenized in the pipeline, with labels by name or number."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import tensorflow as tf
import tf_keras as keras

from kerasbert.data.batching import padded_length
from kerasbert.data.headers import LABELS, PAIRS, TEXTS
from kerasbert.errors import KerasBertError
from kerasbert.ids import INPUT_NAMES
from kerasbert.processors import Features
from kerasbert.tasks.inputs import few_lengths, prefetched

_failures: list[KerasBertError] = []  # raised inside a pipeline; TensorFlow replaces them by errors of its own


def tokenized(
    task: keras.Model, dataset: tf.data.Dataset, batch_size: int, inputs_only: bool = False
) -> tf.data.Dataset:
    """Return a dataset with its texts tokenized. A dataset without texts is returned as it is.

    An element is a text, a pair `(text, second text)` or a dict of them by column, with a label and a sample weight where there are any;
    or one dict with all columns: `{"text": ..., "label": ...}`. Columns are named as in tables (see `kerasbert.data.read_table`), second
    texts also `pair`. Labels are names or numbers.

    Args:
        task: The task that reads the dataset.
        dataset: The dataset. If it is not batched, it is batched first.
        batch_size: Rows in a batch, for a dataset that is not batched.
        inputs_only: Leave labels and weights out.

    Raises:
        KerasBertError: When a dict has no text, or the task has no names of labels.
    """
    named = _as_texts_and_labels(dataset)
    if not all(isinstance(part, tf.TensorSpec) and part.dtype == tf.string for part in _text_specs(named)):
        return dataset
    if _text_specs(named)[0].shape.rank == 0:
        named = named.batch(batch_size)
    if inputs_only and isinstance(named.element_spec, tuple):
        named = named.map(lambda inputs, *_: (inputs,))
    spec: Any = named.element_spec
    parts: tuple[Any, ...] = spec if isinstance(spec, tuple) else (spec,)
    labelled = len(parts) > 1
    read_labels = _label_reader(task) if labelled and _is_string(parts[1]) else None

    def tokenize(*columns: np.ndarray) -> list[np.ndarray]:
        with _kept():
            encoded = task.encode(*([text.decode("utf-8") for text in column] for column in columns))
        features = Features.from_encoded(encoded)
        length = padded_length(int(features.lengths.max()), task.sequence_length, few=few_lengths(task))
        packed = features.pack(range(len(features)), length, task.config.pad_token_id)
        return [packed[name] for name in INPUT_NAMES]

    def step(*element: Any) -> Any:
        strings = element[0] if isinstance(element[0], tuple) else (element[0],)
        arrays = tf.numpy_function(tokenize, strings, [tf.int32] * 3)
        for array in arrays:
            array.set_shape((None, None))
        packed = dict(zip(INPUT_NAMES, arrays, strict=True))
        if not labelled:
            return packed
        labels = element[1] if read_labels is None else read_labels(element[1])
        return packed, labels, *element[2:]

    return prefetched(named.map(step, num_parallel_calls=tf.data.AUTOTUNE))


def _label_reader(task: keras.Model) -> Callable[[tf.Tensor], tf.Tensor]:
    """Return a function from labels as strings to labels as the loss takes them, for a pipeline."""
    processor = task.processor
    dtype = processor.label_dtype
    if dtype is None:
        raise KerasBertError(
            f"expected numbers as labels in a dataset for a task of {processor.name!r}, received strings; give lists of texts "
            "and labels"
        )

    def encode(labels: np.ndarray) -> np.ndarray:
        with _kept():
            return task.processor.numbers([label.decode("utf-8") for label in labels.reshape(-1)])

    def read(strings: tf.Tensor) -> tf.Tensor:
        labels = tf.numpy_function(encode, [strings], tf.as_dtype(dtype))
        labels.set_shape((None,) * processor.label_rank)
        return labels

    return read


@contextlib.contextmanager
def own_errors() -> Iterator[None]:
    """Raise the error from inside a pipeline in place of TensorFlow's error about it."""
    _failures.clear()
    try:
        yield
    except tf.errors.OpError as error:
        if _failures:
            raise _failures[0] from error
        raise


@contextlib.contextmanager
def _kept() -> Iterator[None]:
    """Keep an error for `own_errors`."""
    try:
        yield
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        _failures.append(KerasBertError(f"expected texts in UTF-8, received byte 0x{byte:02x}; convert them"))
        raise
    except KerasBertError as error:
        _failures.append(error)
        raise


def _as_texts_and_labels(dataset: tf.data.Dataset) -> tf.data.Dataset:
    """Turn dicts of strings into texts or pairs, and dicts with a label into tuples; see `tokenized`."""
    spec: Any = dataset.element_spec
    inputs = spec[0] if isinstance(spec, tuple) else spec
    if not isinstance(inputs, dict) or "input_ids" in inputs or not any(map(_is_string, inputs.values())):
        return dataset
    names = {name.casefold(): name for name in inputs}
    paired = [name for name in TEXTS if name in names and PAIRS.get(name) in names]
    text = next((name for name in (*paired, *TEXTS) if name in names), None)
    if text is None:
        raise KerasBertError(
            f"expected a text among {', '.join(TEXTS[:6])} in a dataset of dicts, received {', '.join(inputs)}; rename a column"
        )
    pair = next((name for name in ("pair", PAIRS.get(text)) if name in names), None)
    label = next((name for name in LABELS if name in names and name != text), None)

    def step(element: dict[str, tf.Tensor], *more: tf.Tensor) -> Any:
        texts = element[names[text]] if pair is None else (element[names[text]], element[names[pair]])
        if more or label is None:
            return (texts, *more) if more else texts
        return texts, element[names[label]]

    # Without the outer tuple, a pair of texts would be mistaken for a text and its label.
    return dataset.map(step) if pair is None or label or isinstance(spec, tuple) else dataset.map(lambda e: (step(e),))


def _is_string(spec: object) -> bool:
    return isinstance(spec, tf.TensorSpec) and spec.dtype == tf.string


def _text_specs(dataset: tf.data.Dataset) -> tuple:
    spec: Any = dataset.element_spec
    inputs = spec[0] if isinstance(spec, tuple) else spec
    return inputs if isinstance(inputs, tuple) else (inputs,)
