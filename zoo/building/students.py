"""Students of the zoo: the layers of a sentence encoder, or new layers around its projected token embeddings."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import tensorflow as tf
import tf_keras as keras

import kerasbert as kb
from kerasbert.encoders import encoder_class
from kerasbert.encoders.base import Encoder
from kerasbert.text import Tokenizer
from kerasbert.training.distillation.objective import static_size
from kerasbert.zoo.building.pairs import SINGLE, JointEmbedding
from kerasbert.zoo.building.vectors import principal_directions

POOLED_SCALE = 0.4  # root mean square of the pooler's targets, inside the linear range of tanh
TEMPERATURE = 0.05  # of the softmax over cosines
PAIRS_WEIGHT, EACH_NUMBER = 7.0, 0.05  # of the loss of a pair
_WORD_TABLE, _POSITION_TABLE = "encoder.embeddings.word.table", "encoder.embeddings.position.table"


class Student(kb.SentenceEncoder):
    """A sentence encoder whose pooler learns the sentence vector too, for classifiers that start from it.

    In training the output is `(batch, 2, hidden)`: the mean of the token vectors, scaled to length 1, and the pooled vector. Otherwise it
    is the first of them.
    """

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        pooler: Any = self.encoder.pooler
        if pooler is not None:
            pooler.trainable = True

    @property
    def processor(self) -> JointEmbedding:
        return JointEmbedding(width=self.width)

    def call(self, inputs: dict[str, tf.Tensor], training: bool | None = None) -> tf.Tensor:
        if not training:
            return super().call(inputs, training)
        output = self.encoder(inputs, training=True)
        mask = tf.expand_dims(tf.cast(inputs["attention_mask"], tf.float32), -1)
        total = tf.reduce_sum(tf.cast(output.sequence, tf.float32) * mask, axis=1)
        return tf.stack([tf.math.l2_normalize(total, axis=-1), tf.cast(output.pooled, tf.float32)], axis=1)


class VectorLoss(keras.losses.Loss):
    """The distance of a student's vectors from the teacher's; and for rows of two texts, of their cosine from the teacher's.

    For a single text it is the sum of 1 - cosine of the mean vector, the squared distance of the pooled vector from the target scaled to
    `POOLED_SCALE`, the mean squared difference of its cosines with the batch's other single texts, and the KL divergence of the softmax
    over these cosines, the student's divided by `TEMPERATURE`. For a pair, the mean of the pooled vector's numbers learns to be the cosine
    of both texts.

    Args:
        pooled: Weight of the pooled vector's distance.
        cosines: Weight of the cosines' differences.
        distance: Weight of the mean vector's distance.
        neighbours: Weight of the KL divergence.
        temperature: What the teacher's cosines are divided by there.
        pairs: Weight of the pairs.
        name: The name of the loss.
    """

    def __init__(
        self,
        pooled: float,
        cosines: float,
        distance: float = 1.0,
        neighbours: float = 0.0,
        pairs: float = PAIRS_WEIGHT,
        temperature: float = TEMPERATURE,
        name: str = "vector_loss",
    ):
        super().__init__(reduction=keras.losses.Reduction.SUM_OVER_BATCH_SIZE, name=name)
        self.pooled, self.cosines, self.distance = pooled, cosines, distance
        self.neighbours, self.pairs, self.temperature = neighbours, pairs, temperature

    def call(self, y_true: tf.Tensor, y_pred: tf.Tensor) -> tf.Tensor:
        vectors, truth = y_true[:, :-1], y_true[:, -1]
        single = tf.cast(truth >= SINGLE, tf.float32)
        mean, pooled = y_pred[:, 0], y_pred[:, 1]
        student, teacher = (tf.matmul(each, each, transpose_b=True) for each in (mean, vectors))
        squares = tf.math.squared_difference(student, teacher) * single
        difference = tf.math.divide_no_nan(tf.reduce_sum(squares, axis=-1), tf.reduce_sum(single))
        vector_loss = self.cosines * difference
        if self.distance:
            vector_loss += self.distance * (1.0 - tf.reduce_sum(mean * vectors, axis=-1))
        if self.pooled:
            scale = POOLED_SCALE * static_size(vectors, -1) ** 0.5
            vector_loss += self.pooled * tf.reduce_sum(tf.square(pooled / scale - vectors), axis=-1)
        if self.neighbours:
            vector_loss += self.neighbours * _neighbour_loss(student, teacher, single, self.temperature)
        return single * vector_loss + (1.0 - single) * self.pairs * _pair_loss(pooled, truth)


def _pair_loss(pooled: tf.Tensor, cosine: tf.Tensor) -> tf.Tensor:
    """The squared distance of the numbers' mean from the cosine, and a little of each number's, so that all of them take part."""
    each = tf.reduce_mean(tf.math.squared_difference(pooled, cosine[:, None]), axis=-1)
    return tf.math.squared_difference(tf.reduce_mean(pooled, axis=-1), cosine) + EACH_NUMBER * each


def _neighbour_loss(student: tf.Tensor, teacher: tf.Tensor, single: tf.Tensor, temperature: float) -> tf.Tensor:
    """The KL divergence of each text's softmax over the other single texts of the batch."""
    left_out = 1e9 * (1.0 - (1.0 - tf.eye(tf.shape(single)[0])) * single)
    truth = tf.nn.log_softmax(teacher / temperature - left_out)
    found = tf.nn.log_softmax(student / TEMPERATURE - left_out)
    return tf.reduce_sum(tf.exp(truth) * (truth - found), axis=-1)


def mean_cosine(y_true: tf.Tensor, y_pred: tf.Tensor) -> tf.Tensor:
    """Return the cosine of each mean vector with its target; of pairs without meaning."""
    return tf.reduce_sum(y_pred[:, 0] * y_true[:, :-1], axis=-1)


def stage_metrics(pairs: float, directions: bool) -> list:
    """Return the metrics of a stage's epochs.

    Args:
        pairs: The share of texts with a second one.
        directions: Whether the student's vectors have the directions of the targets.
    """
    return [*([mean_cosine] if directions else []), *([pair_error] if pairs else [])]


def pair_error(y_true: tf.Tensor, y_pred: tf.Tensor) -> tf.Tensor:
    """Return the error of each pair's cosine, 0 for single texts."""
    error = tf.abs(tf.reduce_mean(y_pred[:, 1], axis=-1) - y_true[:, -1])
    return tf.where(y_true[:, -1] >= SINGLE, tf.zeros_like(error), error)


def student_of_layers(teacher: kb.SentenceEncoder, layers: Sequence[int]) -> Student:
    """Return a student with some of the teacher's layers.

    Args:
        teacher: The teacher, with the student's vocabulary.
        layers: The indices of the layers.
    """
    from kerasbert.training.distillation import student_from

    copy = student_from(teacher, list(layers), hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    return _student(copy.encoder, teacher.tokenizer)


def student_of_sizes(teacher: kb.SentenceEncoder, model_type: str, sizes: dict[str, Any]) -> Student:
    """Return a student of another architecture or of other sizes.

    Its token and position embeddings are the teacher's, projected onto the principal directions of the token embeddings.

    Args:
        teacher: The teacher, with the student's vocabulary.
        model_type: The architecture, such as "bert".
        sizes: Values of the encoder's config.
    """
    kind = encoder_class(model_type)
    rates = ("hidden_dropout_prob", "attention_probs_dropout_prob")
    no_dropout = {each.name: 0.0 for each in fields(kind.config_class) if each.name in rates}
    positions = {"max_position_embeddings": teacher.sequence_length, "vocab_size": teacher.config.vocab_size}
    encoder = kind(kind.config_class(**{**positions, **no_dropout, **sizes}), None, pooler=True)
    student = _student(encoder, teacher.tokenizer)
    old, new = teacher.variables_by_path(), student.variables_by_path()
    words = old[_WORD_TABLE].numpy()
    width = int(new[_WORD_TABLE].numpy().shape[1])
    directions = principal_directions(words - words.mean(axis=0), width)
    shift = words.mean(axis=0) if not encoder.layers else 0.0  # a mean of vectors would keep what all of them share
    new[_WORD_TABLE].assign((words - shift) @ directions)
    if encoder.config.has_position_table and new[_POSITION_TABLE].shape[1] == width:
        positions_table = old[_POSITION_TABLE].numpy()
        new[_POSITION_TABLE].assign(positions_table[: new[_POSITION_TABLE].shape[0]] @ directions)
    return student


def _student(encoder: Encoder, tokenizer: Tokenizer) -> Student:
    return Student(encoder, tokenizer, sequence_length=encoder.config.longest)
