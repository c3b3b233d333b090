"""`tf.data` pipelines of texts: tokenized in the pipeline, with labels by name or number."""

import contextlib
import itertools
from collections.abc import Callable, Iterator
from contextvars import ContextVar
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

# Errors that are raised inside the pipelines of one call; TensorFlow replaces them by errors of its own. Pipelines run in TensorFlow's
# threads, so each takes the list of the call that makes it.
_failures: ContextVar[list[KerasBertError] | None] = ContextVar("pipeline_failures", default=None)


def tokenized(
    task: keras.Model, dataset: tf.data.Dataset, batch_size: int, inputs_only: bool = False, seed: int | None = None
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
        seed: For a self-supervised task: the seed of its masks, other ones in each epoch; None for the same ones.

    Raises:
        KerasBertError: When a dict has no text, the task has no names of labels, or a self-supervised task receives labels.
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
    labelled, failures = len(parts) > 1, _failures.get()
    failures = [] if failures is None else failures  # not `or`: an empty list is that of the call
    if task.processor.self_supervised and not inputs_only:
        if labelled:
            raise KerasBertError(
                f"expected texts alone in a dataset for {type(task).__name__}, received labels with them; leave the labels out"
            )
        return _corrupted(task, named, failures, seed)
    read_labels = _label_reader(task, failures) if labelled and _is_string(parts[1]) else None
    embeds = task.processor.name == "embedding"  # a pair has two vectors, and a text may have a prompt
    grouped = embeds and isinstance(parts[0], tuple)

    def tokenize(*columns: np.ndarray) -> list[np.ndarray]:
        with _kept(failures):
            texts = [[text.decode("utf-8") for text in column] for column in columns]
            if embeds:
                features = task.features(list(zip(*texts, strict=True)) if grouped else texts[0])[1]
            else:
                features = Features.from_encoded(task.encode(*texts))
        return _packed(task, features)

    def step(*element: Any) -> Any:
        strings = element[0] if isinstance(element[0], tuple) else (element[0],)
        arrays = tf.numpy_function(tokenize, strings, [tf.int32] * 3)
        for array in arrays:
            array.set_shape((None,) * (3 if grouped else 2))
        packed = dict(zip(INPUT_NAMES, arrays, strict=True))
        if not labelled:
            return packed
        labels = element[1] if read_labels is None else read_labels(element[1])
        return packed, labels, *element[2:]

    return prefetched(named.map(step, num_parallel_calls=tf.data.AUTOTUNE))


def is_paired(dataset: tf.data.Dataset) -> bool | None:
    """Return whether the elements of a dataset are pairs of texts; None for a dataset without texts."""
    specs = _text_specs(_as_texts_and_labels(dataset))
    return len(specs) == 2 if all(map(_is_string, specs)) else None


def _packed(task: keras.Model, features: Features) -> list[np.ndarray]:
    """Return all rows, padded to the longest, in the order of `INPUT_NAMES`."""
    length = padded_length(int(features.lengths.max()), task.sequence_length, few=few_lengths(task))
    packed = features.pack(range(len(features)), length, task.config.pad_token_id)
    return [packed[name] for name in INPUT_NAMES]


def _corrupted(
    task: keras.Model, dataset: tf.data.Dataset, failures: list[KerasBertError], seed: int | None
) -> tf.data.Dataset:
    """Return batches of a self-supervised task: inputs and labels made from batches of texts, windows of long texts included."""
    passes = itertools.count()

    def corrupt(columns: tuple[np.ndarray, ...], epoch: int, batch: int) -> list[np.ndarray]:
        processor, random = task.processor, np.random.default_rng((seed or 0, epoch, batch))
        with _kept(failures):
            texts = [[text.decode("utf-8") for text in column] for column in columns]
            examples = processor.examples(texts[0] if len(texts) == 1 else tuple(texts))
            features = processor.features(examples, task.tokenizer, task.sequence_length)
            inputs = dict(zip(INPUT_NAMES, _packed(task, features), strict=True))
            inputs, labels = processor.corrupt(inputs, task.tokenizer, random, features.alignment)
        return [*(inputs[name] for name in INPUT_NAMES), labels]

    def generate_pass() -> Iterator[int]:
        number = 0 if seed is None else next(passes)
        while True:
            yield number

    def step(number: tuple[tf.Tensor, tf.Tensor], element: Any) -> Any:
        columns = _columns(element)

        def run(epoch: np.ndarray, batch: np.ndarray, *texts: np.ndarray) -> list[np.ndarray]:
            return corrupt(texts, int(epoch), int(batch))

        arrays = tf.numpy_function(run, (*number, *columns), [tf.int32] * 4)
        for array in arrays:
            array.set_shape((None, None))
        return dict(zip(INPUT_NAMES, arrays[:3], strict=True)), arrays[3]

    epochs = tf.data.Dataset.from_generator(generate_pass, output_signature=tf.TensorSpec((), tf.int64))
    epochs = epochs.apply(tf.data.experimental.assert_cardinality(tf.data.INFINITE_CARDINALITY))
    numbers = tf.data.Dataset.zip((epochs, tf.data.Dataset.counter()))
    return prefetched(tf.data.Dataset.zip((numbers, dataset)).map(step, num_parallel_calls=tf.data.AUTOTUNE))


def _columns(element: Any) -> tuple:
    """Return the texts of an element, one tensor for each column."""
    while isinstance(element, tuple) and len(element) == 1:
        element = element[0]
    return element if isinstance(element, tuple) else (element,)


def _label_reader(task: keras.Model, failures: list[KerasBertError]) -> Callable[[tf.Tensor], tf.Tensor]:
    """Return a function from labels as strings to labels as the loss takes them, for a pipeline."""
    processor = task.processor
    dtype = processor.label_dtype
    if dtype is None:
        raise KerasBertError(
            f"expected numbers as labels in a dataset for a task of {processor.name!r}, received strings; give lists of texts "
            "and labels"
        )

    def encode(labels: np.ndarray) -> np.ndarray:
        with _kept(failures):
            return task.processor.numbers([label.decode("utf-8") for label in labels.reshape(-1)])

    def read(strings: tf.Tensor) -> tf.Tensor:
        labels = tf.numpy_function(encode, [strings], tf.as_dtype(dtype))
        labels.set_shape((None,) * processor.label_rank)
        return labels

    return read


def keep_errors() -> contextlib.AbstractContextManager[None]:
    """Return a context that keeps an error inside of a pipeline, which is made in a block of `own_errors`, for that block."""
    failures = _failures.get()
    return _kept([] if failures is None else failures)


@contextlib.contextmanager
def own_errors() -> Iterator[None]:
    """Raise the error from inside a pipeline that is made in this block, in place of TensorFlow's error about it."""
    failures: list[KerasBertError] = []
    token = _failures.set(failures)
    try:
        yield
    except tf.errors.OpError as error:
        if failures:
            raise failures[0] from error
        raise
    finally:
        _failures.reset(token)


@contextlib.contextmanager
def _kept(failures: list[KerasBertError]) -> Iterator[None]:
    """Keep an error for `own_errors`."""
    try:
        yield
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        failures.append(KerasBertError(f"expected texts in UTF-8, received byte 0x{byte:02x}; convert them"))
        raise
    except KerasBertError as error:
        failures.append(error)
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
