"""The batches of a distillation: the student's, and what the teacher reads or once said of the same rows."""

import hashlib
from collections.abc import Mapping

import numpy as np
import tensorflow as tf

from kerasbert.console.output import note
from kerasbert.data.batching import padded_length
from kerasbert.data.table import is_table
from kerasbert.errors import KerasBertError
from kerasbert.ids import INPUT_NAMES
from kerasbert.processors import Features
from kerasbert.tasks import inputs as task_inputs
from kerasbert.tasks import string_datasets
from kerasbert.tasks.quantization_ranges import collect_ranges
from kerasbert.training.distillation.cache import TeacherCache, teacher_cache

_ROW, _LABELS = "row", "labels"


def same_tokens(student, teacher) -> bool:
    """Whether both models read a text as the same ids; of models without a tokenizer their word tables' sizes decide."""
    if not (student.has_tokenizer and teacher.has_tokenizer):
        return student.config.vocab_size == teacher.config.vocab_size
    mine, theirs = (
        {name: value for name, value in task.tokenizer.get_config().items() if name != "model_max_length"}
        for task in (student, teacher)
    )
    return mine == theirs


class Feeder:
    """Makes the datasets of one student and one teacher.

    Elements: ({"student": packed inputs[, "teacher": packed inputs][, "known": tensors]}[, targets[, weights]]). "teacher" is there where
    it tokenizes for itself, "known" where its tensors come from a cache.

    compute: packed inputs -> by name a tensor and its token axes, as a cache wants it. key: what of the training decides that, JSON-able.
    """

    def __init__(self, student, teacher, compute, key: Mapping, cache=None, cache_type: str = "float32"):
        self.student, self.teacher = student, teacher
        self.shared = same_tokens(student, teacher)
        self._compute, self._key, self._cache, self._cache_type = compute, key, cache, cache_type

    def dataset(self, x, y, batch_size: int, *, labelled: bool, cached: bool, **options) -> tf.data.Dataset:
        """What `fit` is fed with. labelled: whether there must be targets. cached: whether the cache is for this data.

        options: shuffle, seed, start and weights of `kerasbert.tasks.inputs.batches`.
        """
        if isinstance(x, tf.data.Dataset):
            return self._of_dataset(x, batch_size, labelled)
        student, y = self.student, x.y if y is None and is_table(x) else y
        examples, rows = student.features(x)
        targets = student.encode_targets(y, rows.example if examples is None else examples, rows)
        own = student.processor.self_supervised and targets is None
        if targets is None and labelled and not own:
            raise KerasBertError(
                "expected labels for the texts, received none; label_weight=0 learns from the teacher alone"
            )
        if own:
            self._check_unchanged()
            data, _ = task_inputs.batches(student, rows, None, batch_size=batch_size, **options)
            return data.map(lambda inputs, *rest: ({"student": inputs}, *rest))
        further = self._further(examples, rows, cached)
        fed = {_ROW: np.arange(len(rows))} | ({} if targets is None else {_LABELS: targets})
        data, _ = task_inputs.batches(student, rows, fed, batch_size=batch_size, **options)
        return data.map(lambda inputs, found, *weights: _element(inputs, found, weights, further))

    def _of_dataset(self, x: tf.data.Dataset, batch_size: int, labelled: bool) -> tf.data.Dataset:
        self._check_unchanged()
        data = string_datasets.tokenized(self.student, x, batch_size)
        if not isinstance(data.element_spec, tuple):
            if labelled:
                raise KerasBertError("expected a dataset with labels, received one without; label_weight=0 needs none")
            return data.map(lambda inputs: ({"student": inputs},))
        return data.map(lambda inputs, *rest: ({"student": inputs}, *rest))

    def _check_unchanged(self) -> None:
        """Raises KerasBertError for what takes rows that can be looked up by their number."""
        if not self.shared:
            raise KerasBertError(
                "expected texts for a teacher with another vocabulary than the student's, received a dataset, or texts in which words are "
                "masked anew"
            )
        if self._cache is not None:
            raise KerasBertError(
                "expected data that is the same in every epoch for a cache, received a dataset, or texts in which words are masked anew; "
                "train without cache="
            )

    def _further(self, examples, rows: Features, cached: bool):
        """Row numbers and the padded length -> what an element holds beside the student's inputs, and of what kind each is."""
        theirs = rows if self.shared else self._teachers_rows(examples, rows)
        if self._cache is not None and cached:
            return _Known(self._cached(theirs))
        return None if self.shared else _TeachersInputs(theirs, self.teacher, task_inputs.few_lengths(self.student))

    def _teachers_rows(self, examples, rows: Features) -> Features:
        if examples is None:
            raise KerasBertError(
                "expected texts for a teacher with another vocabulary than the student's, received packed inputs: they are the student's"
            )
        teacher = self.teacher
        theirs = self.student.processor.features(examples, teacher.tokenizer, teacher.sequence_length)
        if theirs.truncated:
            note(
                f"note: the teacher reads {theirs.truncated} of {len(examples)} texts cut to {teacher.sequence_length} tokens"
            )
        if len(theirs) != len(rows) or not np.array_equal(theirs.example, rows.example):
            raise KerasBertError(
                f"expected one row a text from both tokenizers, received {len(rows)} of the student's and {len(theirs)} of the teacher's"
            )
        return theirs

    def _cached(self, rows: Features) -> TeacherCache:
        teacher = self.teacher
        key = {
            **self._key,
            "teacher": [teacher.fingerprint(), _ranges_digest(teacher)],
            "encoder": teacher.encoder.get_config(),
        }

        def compute(index: np.ndarray):
            length = padded_length(int(rows.lengths[index].max()), teacher.config.longest)
            packed = rows.pack(index, length, teacher.config.pad_token_id)
            return self._compute({name: tf.constant(packed[name]) for name in INPUT_NAMES})

        return teacher_cache(self._cache, key, rows, compute, self._cache_type)


class _TeachersInputs:
    """The teacher's own packed inputs of rows."""

    def __init__(self, rows: Features, teacher, few: bool):
        self.rows, self.pad_id, self.limit, self.few = rows, teacher.config.pad_token_id, teacher.sequence_length, few

    def __call__(self, index, length):
        def pack(index):
            padded = padded_length(int(self.rows.lengths[index].max()), self.limit, few=self.few)
            packed = self.rows.pack(index, padded, self.pad_id)
            return [packed[name] for name in INPUT_NAMES]

        arrays = tf.numpy_function(pack, [index], [tf.int32] * len(INPUT_NAMES))
        for array in arrays:
            array.set_shape((None,) * (2 if self.rows.group == 1 else 3))
        return {"teacher": dict(zip(INPUT_NAMES, arrays, strict=True))}


class _Known:
    """What a cache holds of rows."""

    def __init__(self, cache: TeacherCache):
        self.cache = cache

    def __call__(self, index, length):
        layouts = self.cache.layouts

        def read(index, length):
            found = self.cache.read(index, int(length))
            return [found[layout.name] for layout in layouts]

        arrays = tf.numpy_function(read, [index, length], [tf.float32] * len(layouts))
        for array, layout in zip(arrays, layouts, strict=True):
            array.set_shape((None, *(None if size < 0 else size for size in layout.shape[1:])))
        return {"known": {layout.name: array for layout, array in zip(layouts, arrays, strict=True)}}


def _ranges_digest(task) -> str:
    """Sixteen hex digits of what a quantized model's ranges are."""
    digest = hashlib.sha256()
    for path, values in sorted(collect_ranges(task).items()):
        digest.update(path.encode() + values.tobytes())
    return digest.hexdigest()[:16]


def _element(inputs, found, weights, further) -> tuple:
    read = {"student": inputs}
    if further is not None:
        read |= further(found[_ROW], tf.shape(inputs["input_ids"])[-1])
    if _LABELS in found:
        return (read, found[_LABELS], *weights)
    return (read,)
