"""Dual training: Zhao et al. 2019, "Extreme Language Model Compression with Optimal Subwords and Shared Projections"."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import tensorflow as tf
import tf_keras as keras

from kerasbert.data.batching import LengthBatches, padded_length
from kerasbert.data.dataset import Dataset
from kerasbert.errors import KerasBertError
from kerasbert.ids import INPUT_NAMES
from kerasbert.processors import IGNORED, Features
from kerasbert.processors.features import TokenLists
from kerasbert.tasks import inputs as task_inputs
from kerasbert.tasks.masked_lm import MaskedLM
from kerasbert.text import WordPiece
from kerasbert.training.distill_config import MIXING_RATE, PROJECTION_WEIGHT
from kerasbert.training.distillation.layer_maps import LayerMap
from kerasbert.training.distillation.mixed_words import MixedRows, TwoVocabularies, mixed_rows
from kerasbert.training.distillation.student_training import LossMeans, StudentTraining
from kerasbert.training.distillation.two_vocabulary_teacher import two_vocabulary_teacher, vocabulary_logits
from kerasbert.training.distillation.weight_projections import WeightProjections
from kerasbert.values import Rule

_TEACHER = 1  # part of the seed of the teacher's draws


class DualVocabulary(StudentTraining):
    """Model that trains a student with a small vocabulary together with a copy of its teacher (Zhao et al. 2019, section 3).

    Both learn to predict masked words. The student reads its own tokens. The teacher reads each text with words of both vocabularies: each
    word is tokenized by the student's tokenizer with the probability `mixing_rate`, and these tokens have embeddings of their own in the
    teacher. So they get vectors in its space. A masked token is predicted among the tokens of its own vocabulary. A third loss compares the
    kernels and tables of both models through shared projections, see `WeightProjections`.

    The loss is the sum of the two losses of masked words, and `projection_weight` times the third. The given teacher stays as it is. `fit`
    takes texts, as `kb.MaskedLM` does. Scores and predictions are those of the student.

    Args:
        student: The student, a language model with its own WordPiece tokenizer, as of `small_vocabulary_student`.
        teacher: The teacher, a language model with a larger WordPiece vocabulary.
        mixing_rate: The probability that the teacher reads a word in the student's tokens, from 0 to 1.
        projection: `up` projects the student's weights to the teacher's widths and compares them there, `down` the teacher's to the
            student's.
        projection_weight: Factor of the loss of the projections; 0 for none.
        layers: Which layers are compared, see `layer_map`.
        kwargs: Arguments of `keras.Model`.

    Attributes:
        dual_teacher: The copy of the teacher that reads both vocabularies.
        vocabularies: Both tokenizers.

    Raises:
        KerasBertError: When a model is no language model with WordPiece, they split words by other rules, or a number is out of range.

    Example:
        ```python
        from kerasbert.training.distillation import DualVocabulary, small_vocabulary_student
        teacher = kb.MaskedLM(encoder, task.tokenizer, sequence_length=32)
        student = small_vocabulary_student(teacher, texts, vocabulary_size=200, hidden_size=32)
        dual = DualVocabulary(student, teacher)
        dual.compile(optimizer=kb.adamw(1e-3))
        dual.fit(texts)
        student.save_pretrained("runs/api-dual")
        ```
    """

    def __init__(
        self,
        student: MaskedLM,
        teacher: MaskedLM,
        mixing_rate: float = MIXING_RATE,
        projection: str = "up",
        projection_weight: float = PROJECTION_WEIGHT,
        layers: LayerMap = "uniform",
        **kwargs: Any,
    ):
        super().__init__(student, teacher, **{"name": "dual_vocabulary", **kwargs})
        self.mixing_rate: float = Rule(float, at_least=0, at_most=1).check(mixing_rate, "a mixing_rate")
        self.projection_weight: float = Rule(float, at_least=0).check(projection_weight, "a projection_weight")
        _check_models(student, teacher)
        self.student = student
        self.vocabularies = TwoVocabularies(teacher.tokenizer, student.tokenizer)  # type: ignore[arg-type]
        self.dual_teacher = two_vocabulary_teacher(teacher, self.vocabularies)
        self.projections = WeightProjections(
            student.encoder, self.dual_teacher.encoder, self.vocabularies.student_ids, projection, layers
        )
        self._kept: Any = None  # the last texts, and their rows
        self._matrices = list(self.projections.variables().values())  # tracked by Keras
        self._means = LossMeans("loss", "student_loss", "teacher_loss", "projection_loss")

    def further_variables(self) -> dict[str, tf.Variable]:
        teacher = {f"teacher.{path}": v for path, v in self.dual_teacher.variables_by_path().items()}
        return {**teacher, **self.projections.variables()}

    # -- one step ------------------------------------------------------------------------------------------------------------------------

    def _step_loss(self, data: Any, training: bool) -> tf.Tensor:
        """The loss of one replica's batch; updates all metrics."""
        (inputs, labels), student = data[:2], self.student
        own, targets, _ = student.masked_only((inputs["student"], labels["student"]))
        outputs = student(own, training=training)
        replicas = tf.distribute.get_strategy().num_replicas_in_sync  # Keras divides a loss by their number
        student_loss: Any = student.compute_loss(own, targets, outputs, None)
        losses = [tf.cast(student_loss, tf.float32) * replicas, self._teacher_loss(inputs, labels, training)]
        projection = self.projections.loss() if self.projection_weight else tf.zeros(())
        total = losses[0] + losses[1] + self.projection_weight * projection
        self._means.update(total, *losses, projection)
        metrics: Any = student.compiled_metrics
        metrics.update_state(targets, outputs, None)
        return total / replicas

    def _teacher_loss(self, inputs: Any, labels: Any, training: bool) -> tf.Tensor:
        """The teacher's cross-entropy, each token among those of its own vocabulary."""
        mixed, targets, _ = self.dual_teacher.masked_only((inputs["teacher"], labels["teacher"]))
        logits = self.dual_teacher(mixed, training=training)  # (N, V of both)
        logits = vocabulary_logits(logits, targets, self.vocabularies.teacher.vocabulary_size)
        return tf.reduce_mean(keras.losses.sparse_categorical_crossentropy(targets, logits, from_logits=True))

    # -- data ----------------------------------------------------------------------------------------------------------------------------

    @property
    def metrics(self) -> list:
        return [*self._means.metrics, *self.student_metrics()]

    def features(self, x: Any) -> tuple[list, Features]:
        """Tokenize texts by the student's tokenizer, in the rows that `fit` reads.

        Args:
            x: Texts, or a dataset of them.

        Returns:
            The texts and their features.

        Raises:
            KerasBertError: When there is no text.
        """
        texts, rows = self._rows(x)
        return texts, rows.student_features()

    def _rows(self, x: Any) -> tuple[list, MixedRows]:
        if isinstance(x, tf.data.Dataset) or task_inputs.is_packed(x):
            raise KerasBertError(
                f"expected texts for two vocabularies, received {type(x).__name__}; give a list, or the result of kb.data.read_text"
            )
        task_inputs.check_containers(x)
        if self._kept is None or self._kept[0] is not x:  # a run asks for them twice
            texts = self.student.processor.examples(x.x if isinstance(x, Dataset) else x)
            if texts and isinstance(texts[0], tuple):
                raise KerasBertError(
                    "expected single texts for two vocabularies, received pairs; give their texts in a list"
                )
            rows = mixed_rows(texts, self.vocabularies, self.student.sequence_length)
            self._kept = self._no_dependency((x, texts, rows))
        return self._kept[1:]

    def _dataset(
        self,
        x: Any,
        y: Any,
        batch_size: int,
        shuffle: bool = False,
        sample_weight: Any = None,
        seed: int = 0,
        start: tuple[int, int] | None = None,
    ) -> tf.data.Dataset:
        if y is not None or sample_weight is not None:
            raise KerasBertError(
                "expected texts alone for two vocabularies, received labels or weights; leave them out"
            )
        _, rows = self._rows(x)
        features = rows.student_features()
        order = LengthBatches(features.lengths, batch_size, shuffle, seed, start or (0, 0))

        def generate() -> Iterator[tuple]:
            for (number, batch), index in order.numbered():
                place = (seed, number if shuffle else 0, batch)
                student = self._student_batch(features, index, np.random.default_rng(place))
                teacher = self._teacher_batch(rows, index, np.random.default_rng((*place, _TEACHER)))
                yield tuple({"student": own, "teacher": mixed} for own, mixed in zip(student, teacher, strict=True))

        ids = tf.TensorSpec((None, None), tf.int32)
        inputs = dict.fromkeys(INPUT_NAMES, ids)
        signature: Any = ({"student": inputs, "teacher": inputs}, {"student": ids, "teacher": ids})
        dataset = tf.data.Dataset.from_generator(generate, output_signature=signature)
        return task_inputs.prefetched(dataset.apply(tf.data.experimental.assert_cardinality(len(order))))

    def _student_batch(self, features: Features, index: np.ndarray, random: np.random.Generator) -> tuple:
        """Masked inputs of the student, and the labels."""
        longest = int(features.lengths[index].max())
        length = padded_length(longest, self.student.sequence_length, few=task_inputs.few_lengths(self.student))
        tokenizer = self.student.tokenizer
        return self.student.processor.corrupt(features.pack(index, length, tokenizer.pad_id), tokenizer, random)

    def _teacher_batch(self, rows: MixedRows, index: np.ndarray, random: np.random.Generator) -> tuple:
        """Masked inputs of the teacher in tokens of both vocabularies, and the labels."""
        tokenizer, pieces, processor = self.vocabularies.teacher, self.vocabularies.pieces, self.student.processor
        lists, labels = [], []
        for row in index:
            ids, words = rows.mixed(int(row), self.mixing_rate, random)
            chosen, replacements = processor.replaced(ids, tokenizer.mask_id, pieces, random, words)
            targets = np.full(len(ids), IGNORED, np.int32)
            targets[chosen] = ids[chosen]
            ids[chosen] = replacements
            lists.append(ids.tolist())
            labels.append(targets)
        longest = max(map(len, lists))
        length = padded_length(longest, self.student.sequence_length, few=task_inputs.few_lengths(self.student))
        tokens = TokenLists(lists, [[0] * len(ids) for ids in lists])
        inputs = Features(tokens, np.arange(len(lists))).pack(range(len(lists)), length, tokenizer.pad_id)
        padded = np.full((len(lists), length), IGNORED, np.int32)
        for place, targets in enumerate(labels):
            padded[place, : len(targets)] = targets
        return inputs, padded


def _check_models(student: Any, teacher: Any) -> None:
    for task, role in ((student, "student"), (teacher, "teacher")):
        if not isinstance(task, MaskedLM):
            raise KerasBertError(
                f"expected a kb.MaskedLM as the {role} of two vocabularies, received {type(task).__name__}; load the folder as one"
            )
        if type(task.tokenizer) is not WordPiece:
            raise KerasBertError(
                f"expected a {role} with a WordPiece tokenizer, received {type(task.tokenizer).__name__}; choose another model"
            )
        if task.encoder.policy is not None:
            raise KerasBertError(
                f"expected a {role} in float, received a quantized one; quantize the student when it is trained"
            )
    rules = [[getattr(task.tokenizer, name) for name in WordPiece.flags.values()] for task in (student, teacher)]
    if rules[0] != rules[1]:
        raise KerasBertError(
            f"expected one form of words ({', '.join(WordPiece.flags.values())}) of both tokenizers, received {rules[1]} of the teacher "
            f"and {rules[0]} of the student; make the student with small_vocabulary_student"
        )
    if teacher.config.longest < student.sequence_length:
        raise KerasBertError(
            f"expected a teacher that reads the student's {student.sequence_length} tokens (sequence_length), received one with "
            f"{teacher.config.longest} positions; set a shorter sequence_length of the student"
        )
