"""Next-sentence prediction: whether the second text of a pair follows the first."""

from typing import Any

import tensorflow as tf
import tf_keras as keras

from kerasbert.encoders.base import Encoder
from kerasbert.layers.quantization.activation_quantizers import SOFTMAX_RANGE, activation_quantizer
from kerasbert.layers.quantization.policy import integer_part
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

    pools = True
    reads = "pooled"
    labels: tuple[str, ...]

    def __init__(
        self,
        encoder: Encoder,
        tokenizer: Tokenizer | None = None,
        sequence_length: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(encoder, tokenizer, sequence_length, **kwargs)
        self.labels = ORDER_LABELS if encoder.config.model_type == "albert" else LABELS
        self.add_head(2, getattr(encoder.config, "classifier_dropout_prob", 0.0), "next_sentence")
        self.answer_quantizer = activation_quantizer(integer_part(encoder.policy), "answer", fixed_range=SOFTMAX_RANGE)
        self._create_variables()

    def answer(self, logits: tf.Tensor) -> tf.Tensor:
        return self.answer_quantizer(tf.nn.softmax(logits))

    @property
    def processor(self) -> SingleLabel:
        return SingleLabel(self.labels, paired=True)

    def default_loss(self) -> keras.losses.Loss:
        return keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    def default_metrics(self) -> list[keras.metrics.Metric]:
        return [keras.metrics.SparseCategoricalAccuracy("accuracy")]
