"""Next-sentence prediction: whether the second text of a pair follows the first."""

from typing import Any

import tensorflow as tf
import tf_keras as keras

from kerasbert.encoders.base import Encoder
from kerasbert.layers.dense import truncated_normal
from kerasbert.layers.dropout import Dropout
from kerasbert.layers.lowering.options import TRAINING_OPTIONS, LoweringOptions
from kerasbert.layers.quantization.activation_quantizers import SOFTMAX_RANGE, activation_quantizer
from kerasbert.layers.quantization.dense import make_dense
from kerasbert.layers.quantization.policy import integer_part
from kerasbert.layers.quantization.tie_ranges import tie_pooled
from kerasbert.processors.classification import SingleLabel
from kerasbert.tasks.base import Task
from kerasbert.text import Tokenizer

LABELS = ("next", "not next")
ORDER_LABELS = ("in order", "swapped")  # ALBERT's


@keras.utils.register_keras_serializable("kerasbert")
class NextSentencePredictor(Task):
    """Next-sentence prediction (Devlin et al. 2018, section 3.1), or with an ALBERT sentence order (Lan et al. 2019, section 3.1).

    The head is that of the checkpoint's pretraining. `fit`, `predict` and `score` take pairs of texts, and labels by name or number; 0 is
    the original pair. Calling it returns logits `(batch, 2)`. `kerasbert.data.plain_text.pairs_from_text` makes pairs from running text.

    Args:
        encoder: An encoder with a pooler.
        tokenizer: The tokenizer, or None for packed inputs only.
        sequence_length: Longest input in tokens, special tokens included; see `Task`.
        kwargs: Arguments of `keras.Model`.

    Raises:
        KerasBertError: When the encoder has no pooler; see `Task`.

    Example:
        ```python
        pairs = [("The hotel was fine.", "We stayed two nights."), ("The soup was cold.", "Her new book is out.")]
        task = kb.NextSentencePredictor.from_pretrained("small-en", sequence_length=32)
        task.compile(optimizer=kb.adamw(5e-4))
        task.fit(pairs, ["next", "not next"])
        task.predict(pairs)
        ```
    """

    architecture = "ForNextSentencePrediction"
    heads = ("next_sentence",)
    pools = True
    labels: tuple[str, ...]

    def __init__(
        self,
        encoder: Encoder,
        tokenizer: Tokenizer | None = None,
        sequence_length: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(encoder, tokenizer, sequence_length, **kwargs)
        config, policy = encoder.config, encoder.policy
        self.labels = ORDER_LABELS if config.model_type == "albert" else LABELS
        self.dropout = Dropout(getattr(config, "classifier_dropout_prob", 0.0))
        self.next_sentence_input = activation_quantizer(policy, "next_sentence.input")
        tie_pooled(encoder, self.next_sentence_input)
        self.next_sentence = make_dense(
            2, self.next_sentence_input, policy, "next_sentence", initializer=truncated_normal(config)
        )
        self.answer_quantizer = activation_quantizer(integer_part(encoder.policy), "answer", fixed_range=SOFTMAX_RANGE)
        self._create_variables()

    def call(
        self, inputs: dict[str, tf.Tensor], training: bool | None = None, lowering: LoweringOptions = TRAINING_OPTIONS
    ) -> tf.Tensor:
        pooled = self.encoder(inputs, training=training, lowering=lowering).pooled  # (B, H)
        pooled = self.next_sentence_input(self.dropout(pooled, training=training), training=training)
        return tf.cast(self.next_sentence(pooled, training=training), tf.float32)  # (B, 2)

    def serve(self, inputs: dict[str, tf.Tensor], lowering: LoweringOptions = TRAINING_OPTIONS) -> dict[str, tf.Tensor]:
        return {self.output_name: self.answer_quantizer(tf.nn.softmax(self(inputs, training=False, lowering=lowering)))}

    @property
    def processor(self) -> SingleLabel:
        return SingleLabel(self.labels, paired=True)

    def default_loss(self) -> keras.losses.Loss:
        return keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    def default_metrics(self) -> list[keras.metrics.Metric]:
        return [keras.metrics.SparseCategoricalAccuracy("accuracy")]
