"""The pretraining tasks of BERT, ALBERT, MobileBERT and ELECTRA. They read packed inputs only."""

from typing import Any, ClassVar

import tensorflow as tf
import tf_keras as keras

from kerasbert.encoders.base import Encoder
from kerasbert.layers.dense import truncated_normal
from kerasbert.layers.dropout import Dropout
from kerasbert.layers.heads import ReplacedTokenHead, masked_lm_head
from kerasbert.layers.lowering.options import TRAINING_OPTIONS, LoweringOptions
from kerasbert.layers.quantization.activation_quantizers import activation_quantizer
from kerasbert.layers.quantization.dense import make_dense
from kerasbert.layers.quantization.tie_ranges import tie_pooled
from kerasbert.tasks.base import Task
from kerasbert.text import Tokenizer


class PretrainingTask(Task):
    """A task that reads packed inputs only. It defines what the processor defines for other tasks.

    Attributes:
        main_output: The output of the exported file that `predict` returns.
    """

    main_output: ClassVar[str]

    @property
    def output_name(self) -> str:
        return self.main_output

    @property
    def per_token(self) -> bool:
        return True

    @property
    def soft_loss(self) -> str:
        return "softmax"


@keras.utils.register_keras_serializable("kerasbert")
class Pretrainer(PretrainingTask):
    """Masked language modelling with next-sentence prediction (BERT, MobileBERT) or sentence order (ALBERT).

    See Devlin et al. 2018, section 3.1, and Lan et al. 2019, section 3.1. The task reads packed inputs only. Calling it returns
    `prediction_logits` `(batch, length, vocabulary)`, and `seq_relationship_logits` (ALBERT: `sop_logits`) `(batch, 2)`; class 0 is the
    original pair.

    Args:
        encoder: An encoder with a pooler.
        tokenizer: The tokenizer, which is saved with the task; the task itself reads packed inputs.
        sequence_length: Longest input in tokens, special tokens included; see `Task`.
        kwargs: Arguments of `keras.Model`.

    Raises:
        KerasBertError: When the encoder has no pooler; see `Task`.

    Example:
        ```python
        pretrainer = kb.Pretrainer.from_pretrained("small-en", sequence_length=32)
        packed = pretrainer.pack(["The hotel was fine."], ["We stayed two nights."])
        pretrainer(packed)["seq_relationship_logits"]  # (1, 2)
        ```
    """

    architecture = "ForPreTraining"
    heads = ("masked_lm", "next_sentence")
    pools = True
    main_output = "prediction_logits"

    def __init__(
        self,
        encoder: Encoder,
        tokenizer: Tokenizer | None = None,
        sequence_length: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(encoder, tokenizer, sequence_length, **kwargs)
        config, policy = encoder.config, encoder.policy
        self.pair_output_name = "sop_logits" if config.model_type == "albert" else "seq_relationship_logits"
        self.masked_lm = masked_lm_head(config, policy)
        self.dropout = Dropout(getattr(config, "classifier_dropout_prob", 0.0))
        self.next_sentence_input = activation_quantizer(policy, "next_sentence.input")
        tie_pooled(encoder, self.next_sentence_input)
        self.next_sentence = make_dense(
            2, self.next_sentence_input, policy, "next_sentence", initializer=truncated_normal(config)
        )
        self._create_variables()

    def call(
        self, inputs: dict[str, tf.Tensor], training: bool | None = None, lowering: LoweringOptions = TRAINING_OPTIONS
    ) -> dict[str, tf.Tensor]:
        encoded = self.encoder(inputs, training=training, lowering=lowering)
        pooled = self.next_sentence_input(self.dropout(encoded.pooled, training=training), training=training)  # (B, H)
        return {
            self.output_name: self.masked_lm(
                encoded.sequence, self.encoder.embeddings.word, training=training, lowering=lowering
            ),
            self.pair_output_name: tf.cast(self.next_sentence(pooled, training=training), tf.float32),
        }

    def serve(self, inputs: dict[str, tf.Tensor], lowering: LoweringOptions = TRAINING_OPTIONS) -> dict[str, tf.Tensor]:
        return self(inputs, training=False, lowering=lowering)


@keras.utils.register_keras_serializable("kerasbert")
class ReplacedTokenDetector(PretrainingTask):
    """Replaced token detection (ELECTRA, Clark et al. 2020, section 2).

    The task reads packed inputs only. Calling it returns logits `(batch, length)`, positive for replaced tokens.

    Args:
        encoder: The encoder.
        tokenizer: The tokenizer, which is saved with the task; the task itself reads packed inputs.
        sequence_length: Longest input in tokens, special tokens included; see `Task`.
        kwargs: Arguments of `keras.Model`.

    Raises:
        KerasBertError: When the sequence length or the vocabulary does not fit the encoder; see `Task`.

    Example:
        ```python
        detector = kb.ReplacedTokenDetector(encoder, task.tokenizer, sequence_length=32)
        detector(detector.pack(["the film was a joy"]))  # logits (1, 32)
        ```
    """

    architecture = "ForPreTraining"
    heads = ("discriminator",)
    main_output = "logits"

    def __init__(
        self,
        encoder: Encoder,
        tokenizer: Tokenizer | None = None,
        sequence_length: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(encoder, tokenizer, sequence_length, **kwargs)
        self.discriminator = ReplacedTokenHead(encoder.config, encoder.policy)
        self._create_variables()

    def call(
        self, inputs: dict[str, tf.Tensor], training: bool | None = None, lowering: LoweringOptions = TRAINING_OPTIONS
    ) -> tf.Tensor:
        return self.discriminator(
            self.encoder(inputs, training=training, lowering=lowering).sequence, training=training
        )

    def serve(self, inputs: dict[str, tf.Tensor], lowering: LoweringOptions = TRAINING_OPTIONS) -> dict[str, tf.Tensor]:
        return {self.output_name: self(inputs, training=False, lowering=lowering)}
