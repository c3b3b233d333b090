"""Token classification: a tag for every word of a sentence."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import tensorflow as tf
import tf_keras as keras

from kerasbert.encoders.base import Encoder
from kerasbert.errors import KerasBertError
from kerasbert.heads.head import classifier_dropout
from kerasbert.layers.quantization.activation_quantizers import SOFTMAX_RANGE, activation_quantizer
from kerasbert.layers.quantization.policy import integer_part
from kerasbert.losses import CrossEntropy
from kerasbert.processors import IGNORED
from kerasbert.processors.tagging import Tagging
from kerasbert.tasks.early_exit import EarlyExitTask
from kerasbert.tasks.labels import labels_from_config, labels_to_config, parse_labels
from kerasbert.text import Tokenizer


@keras.utils.register_keras_serializable("kerasbert")
class TokenTagger(EarlyExitTask):
    """A Dense layer on every token (Devlin et al. 2018, section 5.3). Calling it returns logits `(batch, length, labels)`.

    `fit`, `predict` and `score` take sentences of words, or raw texts, with tags or entities; see
    `kerasbert.processors.tagging.Tagging`. For packed inputs, y is int `(rows, length)`, -100 at tokens without a
    class.

    Args:
        encoder: The encoder.
        tokenizer: The tokenizer, or None for packed inputs only.
        labels: Names of the tags in the order of the logits.
        sequence_length: Tokens in the longest row; see `Task`.
        stride: Tokens from the start of a window to that of the next one; see `Tagging`.
        head: A head of your own, which returns logits `(batch, length, labels)`; see `Task`.
        head_settings: Its arguments.
        exits: Numbers of layers behind which there is an exit for easy texts; see `TextClassifier`.
        exit_threshold: The confidence from 0 to 1 from which on a text ends at an exit: that of its least certain token.
        kwargs: Arguments of `keras.Model`.

    Raises:
        KerasBertError: When there are fewer than two labels, or the stride is below 1.

    Example:
        ```python
        tagger = kb.TokenTagger.from_pretrained("small-en", labels=["O", "B-person", "I-person"], sequence_length=16)
        tagger.compile(optimizer=kb.adamw(5e-4))
        tagger.fit([["Ada", "moved"], ["They", "left"]], [["B-person", "O"], ["O", "O"]])
        tagger.predict(["Ada moved to Lima"])[0]["tags"]
        ```
    """

    labelled = True
    labels: tuple[str, ...]

    def __init__(
        self,
        encoder: Encoder,
        tokenizer: Tokenizer | None = None,
        labels: Sequence[str] = (),
        sequence_length: int | None = None,
        stride: int | None = None,
        head: str | None = None,
        head_settings: Mapping[str, Any] | None = None,
        exits: Sequence[int] | None = None,
        exit_threshold: float | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(encoder, tokenizer, sequence_length, head, head_settings, **kwargs)
        self.labels, self.stride = parse_labels(labels), stride
        if len(self.labels) < 2:
            raise KerasBertError(
                f"expected two or more different labels, received {', '.join(self.labels) or 'none'}: name the tags with labels="
            )
        _ = self.processor  # reports wrong settings at once
        self.add_head(len(self.labels), classifier_dropout(encoder))
        self.add_exits(exits, len(self.labels), classifier_dropout(encoder), exit_threshold)
        self.answer_quantizer = activation_quantizer(integer_part(encoder.policy), "answer", fixed_range=SOFTMAX_RANGE)
        self._create_variables()

    @classmethod
    def from_pretrained(
        cls,
        name_or_path: str | os.PathLike,
        labels: Sequence[str] | None = None,
        sequence_length: int | None = None,
        stride: int | None = None,
        **sizes: Any,
    ) -> Self:
        """Load a tagger from a checkpoint folder or the hub. A checkpoint without a head for tokens needs `labels`, and gets a new head.

        Args:
            name_or_path: The folder, or a name on the hub.
            labels: Names of the tags in the order of the logits; by default the checkpoint's.
            sequence_length: Tokens in the longest row.
            stride: See `TokenTagger`.
            sizes: Other arguments of `Task.from_pretrained`.

        Returns:
            The tagger, with the checkpoint's weights.

        Raises:
            KerasBertError: When files are damaged or do not match, there are no labels, or labels and the checkpoint's head differ in
                number.
        """
        return super().from_pretrained(
            name_or_path, labels=labels, sequence_length=sequence_length, stride=stride, **sizes
        )

    @classmethod
    def settings_of(cls, config: dict[str, Any], folder: Path) -> dict[str, Any]:
        return labels_from_config(config)

    def hub_config(self) -> dict[str, Any]:
        return labels_to_config(self.labels)

    @property
    def processor(self) -> Tagging:
        return Tagging(self.labels, self.stride)

    def answer(self, logits: tf.Tensor) -> tf.Tensor:
        return self.answer_quantizer(tf.nn.softmax(logits))

    def default_loss(self) -> keras.losses.Loss:
        return CrossEntropy()

    def default_metrics(self) -> list[keras.metrics.Metric]:
        return [TaggedAccuracy("accuracy")]

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "labels": list(self.labels), "stride": self.stride}


@keras.utils.register_keras_serializable("kerasbert")
class TaggedAccuracy(keras.metrics.SparseCategoricalAccuracy):
    """The fraction of tokens whose most likely class is right, among tokens whose label is not -100."""

    def update_state(self, y_true: tf.Tensor, y_pred: tf.Tensor, sample_weight: tf.Tensor | None = None) -> Any:
        labelled, classes = _split_labels(y_true)
        weights = tf.cast(labelled, tf.float32)
        if sample_weight is not None:
            weights *= _per_token(sample_weight)
        return super().update_state(classes, y_pred, weights)


def _split_labels(y_true: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Return a mask of the tokens with a class, and the classes, 0 at other tokens; both `(batch, length)`."""
    y_true = tf.cast(y_true, tf.int32)
    labelled = tf.not_equal(y_true, IGNORED)
    return labelled, tf.where(labelled, y_true, 0)


def _per_token(sample_weight: tf.Tensor) -> tf.Tensor:
    weights = tf.cast(sample_weight, tf.float32)
    return weights[:, tf.newaxis] if weights.shape.rank == 1 else weights
