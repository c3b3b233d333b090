"""The batches of a distillation: the student's inputs, with the teacher's inputs or cached tensors for the same rows."""

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from kerasbert.console.output import note
from kerasbert.data.batching import padded_length
from kerasbert.data.dataset import labels_of
from kerasbert.errors import KerasBertError
from kerasbert.ids import INPUT_NAMES
from kerasbert.processors import Features
from kerasbert.tasks import inputs as task_inputs, string_datasets
from kerasbert.tasks.base import Task
from kerasbert.tasks.quantization_ranges import collect_ranges
from kerasbert.training.distillation.cache import TeacherArrays, TeacherCache, open_teacher_cache
from kerasbert.training.distillation.partial_labels import encode_partly

_ROW, _LABELS, _LABELLED = "row", "labels", "labelled"

# Maps row numbers and the padded length to what an element holds of the teacher.
_TeacherPart = Callable[[tf.Tensor, tf.Tensor], dict[str, dict[str, tf.Tensor]]]


def same_tokenization(student: Task, teacher: Task) -> bool:
    """Return whether both models read a text as the same ids. Without tokenizers equal vocabulary sizes decide."""
    if not (student.has_tokenizer and teacher.has_tokenizer):
        return student.config.vocab_size == teacher.config.vocab_size
    student_config, teacher_config = (
        {name: value for name, value in task.tokenizer.get_config().items() if name != "model_max_length"}
        for task in (student, teacher)
    )
    return student_config == teacher_config


class DistillationDataset:
    """Factory of the datasets that a distiller is fed with.

    An element is `({"student": inputs, ...}[, targets[, weights]])`. The dict has packed inputs `teacher` if the teacher has another
    tokenization, tensors `cached` if they come from a cache, and `labelled` (0 or 1 for each row) if some rows have no label.

    Args:
        student: The student.
        teacher: The teacher.
        compute: Maps packed inputs to the teacher's tensors, for a cache.
        key: Settings that determine these tensors beside teacher and data, JSON-able.
        cache: The folder of caches; None for no cache.
        cache_type: The type of cached numbers.

    Attributes:
        shared: Whether both models have the same tokenization.
    """

    def __init__(
        self,
        student: Task,
        teacher: Task,
        compute: Callable[[dict[str, tf.Tensor]], TeacherArrays],
        key: Mapping[str, Any],
        cache: str | os.PathLike | None = None,
        cache_type: str = "float32",
    ):
        self.student, self.teacher = student, teacher
        self.shared = same_tokenization(student, teacher)
        self._compute, self._key, self._cache, self._cache_type = compute, key, cache, cache_type

    def batches(
        self, x: Any, y: Any, batch_size: int, *, labelled: bool, cached: bool, **options: Any
    ) -> tf.data.Dataset:
        """Return the dataset for `fit` or `evaluate`.

        Args:
            x: Data that the student's `fit` takes.
            y: Labels; None takes those of a table.
            batch_size: Rows in a batch.
            labelled: Whether labels are required.
            cached: Whether the cache is used for these data.
            **options: `shuffle`, `seed`, `start` and `weights` of `kerasbert.tasks.inputs.batches`.

        Raises:
            KerasBertError: When labels are missing; and when the data do not allow a cache or a teacher with another tokenization.
        """
        if isinstance(x, tf.data.Dataset):
            return self._from_dataset(x, batch_size, labelled, options.get("seed") if options.get("shuffle") else None)
        student, y = self.student, labels_of(x, y)
        examples, features = student.features(x)
        targets, known = encode_partly(
            student, y, features.example if examples is None else examples, features, labelled
        )
        makes_targets = student.processor.self_supervised and targets is None
        if targets is None and labelled and not makes_targets:
            raise KerasBertError(
                "expected labels for the texts, received none; label_weight=0 learns from the teacher alone"
            )
        if makes_targets:
            self._check_reads_student_inputs()
            data, _ = task_inputs.batches(student, features, None, batch_size=batch_size, **options)
            return data.map(lambda inputs, *rest: ({"student": inputs}, *rest))
        teacher_part = self._teacher_part(examples, features, cached)
        row_targets = {_ROW: np.arange(len(features))} | ({} if targets is None else {_LABELS: targets})
        row_targets |= {} if known is None else {_LABELLED: known}
        data, _ = task_inputs.batches(student, features, row_targets, batch_size=batch_size, **options)
        return data.map(lambda inputs, targets, *weights: _element(inputs, targets, weights, teacher_part))

    def _from_dataset(
        self, x: tf.data.Dataset, batch_size: int, labelled: bool, seed: int | None = None
    ) -> tf.data.Dataset:
        self._check_reads_student_inputs()
        data = string_datasets.tokenized(self.student, x, batch_size, seed=seed)
        if not isinstance(data.element_spec, tuple):
            if labelled:
                raise KerasBertError("expected a dataset with labels, received one without; label_weight=0 needs none")
            return data.map(lambda inputs: ({"student": inputs},))
        return data.map(lambda inputs, *rest: ({"student": inputs}, *rest))

    def _check_reads_student_inputs(self) -> None:
        """Check that the teacher needs the student's inputs only. Its own inputs and cached tensors are found by row number."""
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

    def _teacher_part(self, examples: list | None, features: Features, cached: bool) -> _TeacherPart | None:
        teacher_features = features if self.shared else self._teacher_features(examples, features)
        if self._cache is not None and cached:
            return _CachedTensors(self._open_cache(self._cache, teacher_features))
        if self.shared:
            return None
        return _TeacherInputs(teacher_features, self.teacher, task_inputs.few_lengths(self.student))

    def _teacher_features(self, examples: list | None, features: Features) -> Features:
        """The rows in the teacher's tokenization."""
        if examples is None:
            raise KerasBertError(
                "expected texts for a teacher with another vocabulary than the student's, received packed inputs: they are the student's"
            )
        teacher = self.teacher
        teacher_features = self.student.processor.features(examples, teacher.tokenizer, teacher.sequence_length)
        if teacher_features.truncated:
            note(
                f"note: the teacher reads {teacher_features.truncated} of {len(examples)} texts cut to {teacher.sequence_length} tokens"
            )
        if len(teacher_features) != len(features) or not np.array_equal(teacher_features.example, features.example):
            raise KerasBertError(
                f"expected one row a text from both tokenizers, received {len(features)} of the student's and {len(teacher_features)} of "
                "the teacher's; take shorter texts, or a teacher with the student's vocabulary"
            )
        return teacher_features

    def _open_cache(self, folder: str | os.PathLike, features: Features) -> TeacherCache:
        teacher = self.teacher
        key = {
            **self._key,
            "teacher": [teacher.fingerprint(), _ranges_digest(teacher)],
            "encoder": teacher.encoder.get_config(),
        }

        def compute(index: np.ndarray) -> TeacherArrays:
            length = padded_length(int(features.lengths[index].max()), teacher.config.longest)
            packed = features.pack(index, length, teacher.config.pad_token_id)
            return self._compute({name: tf.constant(packed[name]) for name in INPUT_NAMES})

        return open_teacher_cache(folder, key, features, compute, self._cache_type)


class _TeacherInputs:
    """The packed inputs of a teacher with another tokenization."""

    def __init__(self, features: Features, teacher: Task, few: bool):
        self.features, self.few = features, few
        self.pad_id, self.limit = teacher.config.pad_token_id, teacher.sequence_length

    def __call__(self, index: tf.Tensor, length: tf.Tensor) -> dict[str, dict[str, tf.Tensor]]:
        def pack(index: np.ndarray) -> list[np.ndarray]:
            padded = padded_length(int(self.features.lengths[index].max()), self.limit, few=self.few)
            packed = self.features.pack(index, padded, self.pad_id)
            return [packed[name] for name in INPUT_NAMES]

        arrays = tf.numpy_function(pack, [index], [tf.int32] * len(INPUT_NAMES))
        for array in arrays:
            array.set_shape((None,) * (2 if self.features.group == 1 else 3))
        return {"teacher": dict(zip(INPUT_NAMES, arrays, strict=True))}


class _CachedTensors:
    """The tensors of a cache, padded to the student's length."""

    def __init__(self, cache: TeacherCache):
        self.cache = cache

    def __call__(self, index: tf.Tensor, length: tf.Tensor) -> dict[str, dict[str, tf.Tensor]]:
        layouts = self.cache.layouts

        def read(index: np.ndarray, length: np.ndarray) -> list[np.ndarray]:
            tensors = self.cache.read(index, int(length))
            return [tensors[lowering.name] for lowering in layouts]

        arrays = tf.numpy_function(read, [index, length], [tf.float32] * len(layouts))
        for array, lowering in zip(arrays, layouts, strict=True):
            array.set_shape((None, *(None if size < 0 else size for size in lowering.shape[1:])))
        return {"cached": {lowering.name: array for lowering, array in zip(layouts, arrays, strict=True)}}


def _ranges_digest(task: Task) -> str:
    """Sixteen hex digits of a quantized model's ranges."""
    digest = hashlib.sha256()
    for path, values in sorted(collect_ranges(task).items()):
        digest.update(path.encode() + values.tobytes())
    return digest.hexdigest()[:16]


def _element(
    inputs: dict[str, tf.Tensor],
    row_targets: dict[str, Any],
    weights: Sequence[tf.Tensor],
    teacher_part: _TeacherPart | None,
) -> tuple:
    x = {"student": inputs}
    if teacher_part is not None:
        x |= teacher_part(row_targets[_ROW], tf.shape(inputs["input_ids"])[-1])
    if _LABELLED in row_targets:
        x |= {_LABELLED: row_targets[_LABELLED]}
    return (x, row_targets[_LABELS], *weights) if _LABELS in row_targets else (x,)
