"""Training of a sentence encoder on a few examples, with a layer of classes that starts at their centres."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf
import tf_keras as keras

from kerasbert.few_shot.choice import Choice, dealt, held_out, scaled_choice
from kerasbert.few_shot.linear import centres
from kerasbert.optimizers.adamw import adamw
from kerasbert.processors.embedding import Embedding
from kerasbert.processors.features import Features
from kerasbert.processors.few_shot import METHODS, TRAINED, Linear
from kerasbert.tasks.sentence_encoder import SentenceEncoder

_BATCH_SIZE = 16
# An epoch of few rows is few steps: the encoder gets so many epochs that their number is about this, between two bounds.
_STEPS, _FEWEST_EPOCHS, _MOST_EPOCHS = 200, 4, 48
_RATE, _HEAD_FACTOR = 3e-4, 10.0  # the layer's rate is that of the encoder times the factor
# The logits of the start over those of the centres: an example is near its centre, and would be learned already, without a gradient.
_SOFTENED = 0.2
_SEED = 1  # of the order of the rows
_FOLDS, _MANY_ROWS = 3, 300  # with more rows, one of the folds is enough


@dataclass(frozen=True)
class _Classes(Embedding):
    """Texts with the numbers of their classes."""

    def encode_labels(self, y: Any, examples: Sequence, features: Features) -> np.ndarray:
        return np.asarray(y, np.int32)


class EncoderWithClasses(SentenceEncoder):
    """A sentence encoder whose output in training is the logits of classes; otherwise it is the vector, of length 1.

    Args:
        encoder: The sentence encoder, whose weights are trained.
        classes: The number of classes.
    """

    def __init__(self, encoder: SentenceEncoder, classes: int) -> None:
        super().__init__(
            encoder.encoder,
            encoder.tokenizer,
            encoder.pooling,
            True,
            encoder.sequence_length,
            encoder.dimensions,
            encoder.projection_bias,
            encoder.projection_activation,
            encoder.prompts,
            encoder.default_prompt_name,
        )
        copy_projection(encoder, self)
        self.classes = keras.layers.Dense(classes, name="classes")
        self.classes.build((None, self.width))
        self.compile(adamw(_RATE, rates={"*": _RATE, "classes*": _HEAD_FACTOR * _RATE}))

    @property
    def processor(self) -> _Classes:
        return _Classes(width=self.width, prompts=self.prompts, default_prompt_name=self.default_prompt_name)

    def call(self, inputs: dict[str, tf.Tensor], training: bool | None = None) -> tf.Tensor:
        vectors = super().call(inputs, training=training)
        return self.classes(vectors) if training else vectors

    def default_loss(self) -> keras.losses.Loss:
        return keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def copy_projection(source: SentenceEncoder, target: SentenceEncoder) -> None:
    """Copy the projection, the only part that two sentence encoders with one encoder have of their own."""
    if source.projection is not None and target.projection is not None:
        target.projection.set_weights(source.projection.get_weights())


class Trainings:
    """Several trainings of one sentence encoder, each from its first weights: the graph of a step is traced once.

    Args:
        encoder: The sentence encoder, whose weights are trained.
        classes: The number of classes.
    """

    def __init__(self, encoder: SentenceEncoder, classes: int) -> None:
        self._encoder, self._model = encoder, EncoderWithClasses(encoder, classes)
        self._start = [(weight, weight.numpy()) for weight in self._model.trainable_variables]

    def train(self, texts: Sequence[str], classes: np.ndarray) -> Linear:
        """Train the encoder, and the layer from the centres of the classes on.

        Args:
            texts: The examples.
            classes: The class of each, from 0; each class has one.

        Returns:
            The layer.
        """
        model = self._model
        for weight, value in self._start:
            weight.assign(value)
        for variable in model.optimizer.variables:
            variable.assign(tf.zeros_like(variable))
        start = centres(self.vectors(texts), classes, model.classes.units)
        model.classes.set_weights([_SOFTENED * start.kernel.T, start.bias])
        steps = -(-len(texts) // _BATCH_SIZE)
        epochs = min(max(round(_STEPS / steps), _FEWEST_EPOCHS), _MOST_EPOCHS)
        trained: Any = model  # Keras' annotation of `fit` lacks the seed
        trained.fit(list(texts), classes, batch_size=_BATCH_SIZE, epochs=epochs, seed=_SEED, verbose=0)
        copy_projection(model, self._encoder)
        kernel, bias = model.classes.get_weights()
        return Linear(kernel.T.astype(np.float32), bias.astype(np.float32))

    def vectors(self, texts: Sequence[str]) -> np.ndarray:
        """Compute the vectors of texts, of length 1."""
        return self._model.predict(list(texts))


def train(encoder: SentenceEncoder, texts: Sequence[str], classes: np.ndarray, count: int) -> Choice:
    """Train a sentence encoder, in place, to tell classes apart; and measure on examples that it did not see how well it does.

    For the measurement it is trained on two thirds of the examples, three times; of more than 300 examples once.

    Args:
        encoder: The sentence encoder.
        texts: The examples.
        classes: The class of each, from 0 to below `count`; each class has one.
        count: The number of classes.

    Returns:
        The layer, with the accuracy of the other methods on the encoder as it was.
    """
    trainings = Trainings(encoder, count)
    before = trainings.vectors(texts)
    fold, every = dealt(classes, count, _FOLDS), np.array(texts, object)
    rows, found = [], []
    for number in range(_FOLDS if len(texts) <= _MANY_ROWS else 1):
        out = np.flatnonzero(fold == number)
        if len(out):
            taught = np.flatnonzero(fold != number)
            linear = trainings.train(every[taught].tolist(), classes[taught])
            rows.append(out)
            found.append(linear.probabilities(trainings.vectors(every[out].tolist())))
    linear = trainings.train(texts, classes)
    if not rows:
        return Choice(linear, TRAINED, {}, None, None)
    probabilities, truth = np.concatenate(found), classes[np.concatenate(rows)]
    others = held_out(METHODS, before, classes, count)
    accuracy = {**(others.accuracy if others else {}), TRAINED: float(np.mean(probabilities.argmax(axis=1) == truth))}
    return scaled_choice(linear, TRAINED, accuracy, probabilities, truth)
