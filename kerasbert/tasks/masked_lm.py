"""A text with gaps to the words that fill them."""

import tensorflow as tf
import tf_keras as keras

from kerasbert.encoders.base import Encoder
from kerasbert.layers.graph import TRAINING_LAYOUT, GraphLayout
from kerasbert.layers.heads import masked_lm_head
from kerasbert.tasks.base import Task


@keras.utils.register_keras_serializable("kerasbert")
class MaskedLM(Task):
    """Masked language modelling (Devlin et al. 2018, section 3.1). Calling it gives logits (B, S, V)."""

    architecture = "ForMaskedLM"
    heads = ("masked_lm",)
    output_name = "logits"
    problem = "masked_lm"
    per_token = True

    def __init__(self, encoder: Encoder, tokenizer=None, sequence_length: int | None = None, **kwargs):
        super().__init__(encoder, tokenizer, sequence_length, **kwargs)
        self.masked_lm = masked_lm_head(encoder.config, encoder.policy)
        self._create_variables()

    def call(self, inputs, training=None, layout: GraphLayout = TRAINING_LAYOUT):
        sequence = self.encoder(inputs, training=training, layout=layout).sequence
        return self.masked_lm(sequence, self.encoder.embeddings.word, training=training)

    def serve(self, inputs, layout: GraphLayout = TRAINING_LAYOUT) -> dict[str, tf.Tensor]:
        return {self.output_name: self(inputs, training=False, layout=layout)}
