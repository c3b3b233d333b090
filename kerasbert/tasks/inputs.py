"""From what users hand to `fit` and `predict` to batches of packed ids."""

import numpy as np
import tensorflow as tf

from kerasbert.data.batching import LengthBatches, padded_length
from kerasbert.encoders.base import INPUT_NAMES
from kerasbert.errors import KerasBertError
from kerasbert.ids import check_ids
from kerasbert.text import pack


def is_packed(x) -> bool:
    """True for a dict with `input_ids`: already tokenized."""
    return isinstance(x, dict) and "input_ids" in x


def split_pairs(x) -> tuple[list, list | None]:
    """Texts and second texts. Accepts a list or array of strings, a pair `(texts, pairs)` of such, or a list of 2-tuples."""
    if isinstance(x, str):
        raise KerasBertError(f"expected a list of texts, received one string: {x[:40]!r}. Put it in a list")
    if isinstance(x, tuple) and len(x) == 2 and not isinstance(x[0], str):
        return _texts(x[0]), _texts(x[1])
    rows = _texts(x)
    if rows and all(isinstance(row, tuple | list) and len(row) == 2 for row in rows):
        return [row[0] for row in rows], [row[1] for row in rows]
    return rows, None


def _texts(x) -> list:
    if isinstance(x, np.ndarray | tf.Tensor):
        x = np.asarray(x)
        if x.ndim != 1:
            raise KerasBertError(f"expected texts as a list or a 1-D array, received an array of shape {x.shape}")
    return list(x)


def batches(
    task, x, y, batch_size: int, shuffle: bool, sample_weight=None, seed: int = 0
) -> tuple[tf.data.Dataset, LengthBatches]:
    """A dataset of (packed inputs[, labels[, weights]]) whose batches hold rows of like length, and the row order behind it."""
    ids, types = _rows(task, x)
    rows = len(ids)
    if not rows:
        raise KerasBertError("expected at least one text, received none")
    for name, values in (("labels", y), ("sample weights", sample_weight)):
        if values is not None and len(values) != rows:
            raise KerasBertError(f"expected one of the {name} for each text, received {len(values)} for {rows} texts")
    lengths = np.fromiter((len(row) for row in ids), np.int32, rows)
    order = LengthBatches(lengths, batch_size, shuffle, seed)
    extras = [np.asarray(values) for values in (y, sample_weight) if values is not None]

    def generate():
        for index in order:
            longest = task.sequence_length if task.per_token else int(lengths[index].max())
            length = padded_length(longest, task.sequence_length)
            inputs = pack(
                _Rows([ids[i] for i in index], [types[i] for i in index]),
                length=length,
                pad_id=task.config.pad_token_id,
            )
            yield (inputs, *(values[index] for values in extras)) if extras else (inputs,)

    signature = {name: tf.TensorSpec((None, None), tf.int32) for name in INPUT_NAMES}
    specs = [tf.TensorSpec((None, *values.shape[1:]), values.dtype) for values in extras]
    dataset = tf.data.Dataset.from_generator(generate, output_signature=(signature, *specs))
    return dataset.apply(tf.data.experimental.assert_cardinality(len(order))).prefetch(4), order


class _Rows:
    """Token lists in the form that `pack` takes."""

    def __init__(self, input_ids, token_type_ids):
        self.input_ids, self.token_type_ids = input_ids, token_type_ids


def _rows(task, x):
    if not is_packed(x):
        texts, pairs = split_pairs(x)
        encoded = task.encode(texts, pairs)
        return encoded.input_ids, encoded.token_type_ids
    ids = np.asarray(x["input_ids"])
    mask = np.asarray(x.get("attention_mask", np.ones_like(ids)))
    types = np.asarray(x.get("token_type_ids", np.zeros_like(ids)))
    if ids.ndim != 2 or mask.shape != ids.shape or types.shape != ids.shape:
        raise KerasBertError(
            "expected input_ids, attention_mask and token_type_ids of one shape (rows, length), received "
            f"{ids.shape}, {mask.shape}, {types.shape}"
        )
    check_ids(ids, task.config.vocab_size, type(task).__name__)
    lengths = mask.sum(1)
    if not np.array_equal(mask, np.arange(ids.shape[1]) < lengths[:, None]):
        raise KerasBertError("expected an attention_mask of ones, then zeros in each row, received another pattern")
    if lengths.size and lengths.max() > task.sequence_length:
        raise KerasBertError(
            f"expected packed rows of at most {task.sequence_length} tokens (sequence_length), received {lengths.max()}"
        )
    return [row[:n] for row, n in zip(ids, lengths, strict=True)], [
        row[:n] for row, n in zip(types, lengths, strict=True)
    ]


def tokenized(task, dataset: tf.data.Dataset, batch_size: int) -> tuple[tf.data.Dataset, bool]:
    """A dataset whose string elements are tokenized; unbatched strings are batched first. The flag says whether anything was done."""
    spec = dataset.element_spec
    inputs, rest = (spec[0], spec[1:]) if isinstance(spec, tuple) else (spec, ())
    parts = inputs if isinstance(inputs, tuple) else (inputs,)
    if not all(isinstance(part, tf.TensorSpec) and part.dtype == tf.string for part in parts):
        return dataset, False
    if parts[0].shape.rank == 0:
        dataset = dataset.batch(batch_size)

    def tokenize(*arrays):
        texts = [[text.decode("utf-8") for text in array] for array in arrays]
        encoded = task.encode(*texts)
        longest = max(len(row) for row in encoded.input_ids)
        packed = pack(encoded, length=padded_length(longest, task.sequence_length), pad_id=task.config.pad_token_id)
        return [packed[name] for name in INPUT_NAMES]

    def step(*element):
        strings = element[0] if isinstance(element[0], tuple) else (element[0],)
        arrays = tf.numpy_function(tokenize, strings, [tf.int32] * 3)
        for array in arrays:
            array.set_shape((None, None))
        packed = dict(zip(INPUT_NAMES, arrays, strict=True))
        return (packed, *element[1:]) if rest else packed

    return dataset.map(step, num_parallel_calls=tf.data.AUTOTUNE).prefetch(4), True
