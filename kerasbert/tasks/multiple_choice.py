"""Multiple choice: a prompt with several choices to the best of them."""

from typing import Any

import tensorflow as tf
import tf_keras as keras

from kerasbert.encoders.base import Encoder
from kerasbert.ids import INPUT_NAMES
from kerasbert.layers.dense import truncated_normal
from kerasbert.layers.dropout import Dropout
from kerasbert.layers.lowering.options import TRAINING_OPTIONS, LoweringOptions
from kerasbert.layers.quantization.activation_quantizers import activation_quantizer
from kerasbert.layers.quantization.dense import make_dense
from kerasbert.layers.quantization.tie_ranges import tie_pooled
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

    architecture = "ForMultipleChoice"
    heads = ("choice_classifier",)
    pools = True
    grouped = True
    reads_mask = True

    def __init__(
        self,
        encoder: Encoder,
        tokenizer: Tokenizer | None = None,
        sequence_length: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(encoder, tokenizer, sequence_length, **kwargs)
        config, policy = encoder.config, encoder.policy
        self.dropout = Dropout(getattr(config, "classifier_dropout_prob", config.hidden_dropout_prob))
        self.choice_classifier_input = activation_quantizer(policy, "classifier.input")
        tie_pooled(encoder, self.choice_classifier_input)
        self.choice_classifier = make_dense(
            1, self.choice_classifier_input, policy, "classifier", initializer=truncated_normal(config)
        )
        self._create_variables()

    def call(
        self, inputs: dict[str, tf.Tensor], training: bool | None = None, lowering: LoweringOptions = TRAINING_OPTIONS
    ) -> tf.Tensor:
        ids = tf.convert_to_tensor(inputs["input_ids"])  # (B, choices, S), or (B, S)
        flat = {
            name: tf.reshape(inputs[name], (-1, tf.shape(inputs[name])[-1])) for name in INPUT_NAMES if name in inputs
        }
        pooled = self.dropout(self.encoder(flat, training=training, lowering=lowering).pooled, training=training)
        scores = self.choice_classifier(self.choice_classifier_input(pooled, training=training), training=training)
        scores = tf.cast(scores, tf.float32)  # (B * choices, 1)
        if ids.shape.rank == 2:
            return tf.reshape(scores, (-1, 1))
        scores = tf.reshape(scores, tf.shape(ids)[:2])  # (B, choices)
        if "attention_mask" not in inputs:
            return scores
        return tf.where(tf.reduce_any(inputs["attention_mask"] > 0, axis=-1), scores, PADDING_LOGIT)

    def serve(self, inputs: dict[str, tf.Tensor], lowering: LoweringOptions = TRAINING_OPTIONS) -> dict[str, tf.Tensor]:
        return {self.output_name: self(inputs, training=False, lowering=lowering)}

    @property
    def processor(self) -> MultipleChoiceProcessor:
        return MultipleChoiceProcessor()

    def default_loss(self) -> keras.losses.Loss:
        return keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    def default_metrics(self) -> list[keras.metrics.Metric]:
        return [keras.metrics.SparseCategoricalAccuracy("accuracy")]
