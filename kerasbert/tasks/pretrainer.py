"""What checkpoints are pretrained on."""

import tensorflow as tf
import tf_keras as keras

from kerasbert.encoders.base import Encoder
from kerasbert.errors import KerasBertError
from kerasbert.layers.dense import truncated_normal
from kerasbert.layers.dropout import Dropout
from kerasbert.layers.heads import ReplacedTokenHead, masked_lm_head
from kerasbert.layers.lowering.options import TRAINING_OPTIONS, LoweringOptions
from kerasbert.layers.quantization.activation_quantizers import activation_quantizer
from kerasbert.layers.quantization.dense import make_dense
from kerasbert.layers.quantization.tie_ranges import tie_pooled
from kerasbert.tasks.base import Task


@keras.utils.register_keras_serializable("kerasbert")
class Pretrainer(Task):
    """Masked words, and of a pair of texts whether the second follows (BERT, MobileBERT) or stands in order (ALBERT).

    Calling it gives `prediction_logits` (B, S, V) and `seq_relationship_logits`, in ALBERT `sop_logits`, (B, 2); class 0 is the pair as it
    was.
    """

    architecture = "ForPreTraining"
    not_for = ("electra",)
    heads = ("masked_lm", "next_sentence")
    output_name = "prediction_logits"
    pools = True
    per_token = True

    def __init__(self, encoder: Encoder, tokenizer=None, sequence_length: int | None = None, **kwargs):
        super().__init__(encoder, tokenizer, sequence_length, **kwargs)
        if not encoder.pools:
            raise KerasBertError("expected an encoder with a pooler for pretraining on pairs of texts")
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

    def call(self, inputs, training=None, layout: LoweringOptions = TRAINING_OPTIONS) -> dict[str, tf.Tensor]:
        encoded = self.encoder(inputs, training=training, layout=layout)
        pooled = self.next_sentence_input(self.dropout(encoded.pooled, training=training), training=training)
        return {
            self.output_name: self.masked_lm(encoded.sequence, self.encoder.embeddings.word, training=training),
            self.pair_output_name: tf.cast(self.next_sentence(pooled, training=training), tf.float32),
        }

    def serve(self, inputs, layout: LoweringOptions = TRAINING_OPTIONS):
        return self(inputs, training=False, layout=layout)


@keras.utils.register_keras_serializable("kerasbert")
class ReplacedTokenDetector(Task):
    """Which tokens a generator put in (ELECTRA, Clark et al. 2020). Calling it gives logits (B, S), positive for replaced ones."""

    architecture = "ForPreTraining"
    heads = ("discriminator",)
    output_name = "logits"
    per_token = True

    def __init__(self, encoder: Encoder, tokenizer=None, sequence_length: int | None = None, **kwargs):
        super().__init__(encoder, tokenizer, sequence_length, **kwargs)
        self.discriminator = ReplacedTokenHead(encoder.config, encoder.policy)
        self._create_variables()

    def call(self, inputs, training=None, layout: LoweringOptions = TRAINING_OPTIONS):
        return self.discriminator(self.encoder(inputs, training=training, layout=layout).sequence, training=training)

    def serve(self, inputs, layout: LoweringOptions = TRAINING_OPTIONS):
        return {self.output_name: self(inputs, training=False, layout=layout)}
