"""Multiple choice: a prompt with several choices to the best of them."""

from collections.abc import Mapping
from typing import Any

import tensorflow as tf
import tf_keras as keras

from kerasbert.encoders.base import Encoder
from kerasbert.heads.head import classifier_dropout
from kerasbert.ids import INPUT_NAMES
from kerasbert.processors.multiple_choice import MultipleChoice as MultipleChoiceProcessor
from kerasbert.tasks.base import Task
from kerasbert.text import Tokenizer

PADDING_LOGIT = -1e9  # of the empty choices of an example that has fewer than others


@keras.utils.register_keras_serializable("kerasbert")
class MultipleChoice(Task):
    """A score for each choice from the pooled first token (Devlin et al. 2018, section 4.4).

    `fit`, `predict` and `score` take `(prompt, choices)` examples; see `kerasbert.processors.multiple_choice.MultipleChoice`. Calling it
    on inputs `(batch, choices, length)` returns logits `(batch, choices)`, and on `(batch, length)` logits `(batch, 1)`. A softmax makes
    the logits of choices without tokens 0.

    Args:
        encoder: An encoder with a pooler.
        tokenizer: The tokenizer, or None for packed inputs only.
        sequence_length: Longest input in tokens, special tokens included; see `Task`.
        head: A head of your own, which returns a score `(batch * choices, 1)`; see `Task`.
        head_settings: Its arguments.
        kwargs: Arguments of `keras.Model`.

    Raises:
        KerasBertError: When the encoder has no pooler; see `Task`.

    Example:
        ```python
        chooser = kb.MultipleChoice.from_pretrained("small-en", sequence_length=32)
        chooser.compile(optimizer=kb.adamw(5e-4))
        chooser.fit([("How was it?", ["Really lovely.", "It was blue."])], [0])
        chooser.predict([("How was it?", ["Really lovely.", "It was blue."])])
        ```
    """

    pools = True
    reads = "pooled"
    grouped = True
    reads_mask = True

    def __init__(
        self,
        encoder: Encoder,
        tokenizer: Tokenizer | None = None,
        sequence_length: int | None = None,
        head: str | None = None,
        head_settings: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(encoder, tokenizer, sequence_length, head, head_settings, **kwargs)
        self.add_head(1, classifier_dropout(encoder))
        self._create_variables()

    def call(self, inputs: dict[str, tf.Tensor], training: bool | None = None) -> tf.Tensor:
        ids = tf.convert_to_tensor(inputs["input_ids"])  # (B, choices, S), or (B, S)
        flat = {
            name: tf.reshape(inputs[name], (-1, tf.shape(inputs[name])[-1])) for name in INPUT_NAMES if name in inputs
        }
        scores = self.logits(flat, training)  # (B * choices, 1)
        if ids.shape.rank == 2:
            return tf.reshape(scores, (-1, 1))
        scores = tf.reshape(scores, tf.shape(ids)[:2])  # (B, choices)
        if "attention_mask" not in inputs:
            return scores
        return tf.where(tf.reduce_any(inputs["attention_mask"] > 0, axis=-1), scores, PADDING_LOGIT)

    @property
    def processor(self) -> MultipleChoiceProcessor:
        return MultipleChoiceProcessor()

    def default_loss(self) -> keras.losses.Loss:
        return keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    def default_metrics(self) -> list[keras.metrics.Metric]:
        return [keras.metrics.SparseCategoricalAccuracy("accuracy")]
