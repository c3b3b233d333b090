"""`tf.data` pipelines of texts: tokenized on the way, with labels by name or number."""

import contextlib
from collections.abc import Iterator

import tensorflow as tf

from kerasbert.data.batching import padded_length
from kerasbert.data.headers import LABELS, PAIRS, TEXTS
from kerasbert.errors import KerasBertError
from kerasbert.ids import INPUT_NAMES
from kerasbert.tasks.inputs import fed, few_lengths
from kerasbert.text import pack

_failures: list[KerasBertError] = []  # raised inside of a pipeline, which TensorFlow tells in words of its own


def tokenized(task, dataset: tf.data.Dataset, batch_size: int, inputs_only: bool = False) -> tf.data.Dataset:
    """A dataset with its texts tokenized; unbatched elements are batched first. One of anything else as it is.

    An element is a text, a pair `(text, second text)` or a dict of them by column, then a label and a sample weight where there are any;
    or one dict with all columns: `{"text": ..., "label": ...}`. Columns are named as in tables (see `kerasbert.data.read_table`), second
    texts also `pair`. Labels are names or numbers. inputs_only: leave them out.
    """
    named = _by_name(dataset)
    if not all(isinstance(part, tf.TensorSpec) and part.dtype == tf.string for part in _text_specs(named)):
        return dataset
    if _text_specs(named)[0].shape.rank == 0:
        named = named.batch(batch_size)
    if inputs_only and isinstance(named.element_spec, tuple):
        named = named.map(lambda inputs, *_: (inputs,))
    labelled = isinstance(named.element_spec, tuple) and len(named.element_spec) > 1
    by_name = labelled and _is_string(named.element_spec[1])
    label_dtype = task.processor.label_dtype if by_name else None
    if by_name and label_dtype is None:
        raise KerasBertError(
            f"expected numbers as labels in a dataset for a task of {task.processor.name!r}, received strings; give lists of texts "
            "and labels"
        )

    def tokenize(*arrays):
        with _kept():
            encoded = task.encode(*([text.decode("utf-8") for text in array] for array in arrays))
        longest = max(len(row) for row in encoded.input_ids)
        length = padded_length(longest, task.sequence_length, few=few_lengths(task))
        packed = pack(encoded, length=length, pad_id=task.config.pad_token_id)
        return [packed[name] for name in INPUT_NAMES]

    def number(labels):
        with _kept():
            return task.processor.numbers([label.decode("utf-8") for label in labels.reshape(-1)])

    def step(*element):
        strings = element[0] if isinstance(element[0], tuple) else (element[0],)
        arrays = tf.numpy_function(tokenize, strings, [tf.int32] * 3)
        for array in arrays:
            array.set_shape((None, None))
        packed = dict(zip(INPUT_NAMES, arrays, strict=True))
        if not labelled:
            return packed
        labels = element[1]
        if by_name:
            labels = tf.numpy_function(number, [labels], tf.as_dtype(label_dtype))
            labels.set_shape((None, len(task.labels)) if task.processor.compared_as == "multi_label" else (None,))
        return packed, labels, *element[2:]

    return fed(named.map(step, num_parallel_calls=tf.data.AUTOTUNE))


@contextlib.contextmanager
def own_errors() -> Iterator[None]:
    """Raises what was raised inside of the pipeline in place of TensorFlow's error about it."""
    _failures.clear()
    try:
        yield
    except tf.errors.OpError as error:
        if _failures:
            raise _failures[0] from error
        raise


@contextlib.contextmanager
def _kept() -> Iterator[None]:
    """Keeps an error for `own_errors`."""
    try:
        yield
    except UnicodeDecodeError as error:
        _failures.append(KerasBertError(f"expected texts in UTF-8, received byte 0x{error.object[error.start]:02x}"))
        raise
    except KerasBertError as error:
        _failures.append(error)
        raise


def _by_name(dataset: tf.data.Dataset) -> tf.data.Dataset:
    """Dicts of strings as texts or pairs, and a dict with a label as what `fit` takes."""
    spec = dataset.element_spec
    inputs = spec[0] if isinstance(spec, tuple) else spec
    if not isinstance(inputs, dict) or "input_ids" in inputs or not any(map(_is_string, inputs.values())):
        return dataset
    names = {name.casefold(): name for name in inputs}
    paired = [name for name in TEXTS if name in names and PAIRS.get(name) in names]
    text = next((name for name in (*paired, *TEXTS) if name in names), None)
    if text is None:
        raise KerasBertError(
            f"expected a text among {', '.join(TEXTS[:6])} in a dataset of dicts, received {', '.join(inputs)}"
        )
    pair = next((name for name in ("pair", PAIRS.get(text)) if name in names), None)
    label = next((name for name in LABELS if name in names and name != text), None)

    def step(element, *more):
        texts = element[names[text]] if pair is None else (element[names[text]], element[names[pair]])
        if more or label is None:
            return (texts, *more) if more else texts
        return texts, element[names[label]]

    # Without a second argument a pair of texts would be taken for a text and its label.
    return dataset.map(step) if pair is None or label or isinstance(spec, tuple) else dataset.map(lambda e: (step(e),))


def _is_string(spec) -> bool:
    return isinstance(spec, tf.TensorSpec) and spec.dtype == tf.string


def _text_specs(dataset: tf.data.Dataset) -> tuple:
    spec = dataset.element_spec
    inputs = spec[0] if isinstance(spec, tuple) else spec
    return inputs if isinstance(inputs, tuple) else (inputs,)
