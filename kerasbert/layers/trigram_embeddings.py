"""MobileBERT's embeddings."""

import tensorflow as tf

from kerasbert.layers.dense import truncated_normal
from kerasbert.layers.embeddings import Embeddings
from kerasbert.layers.lowering.options import TRAINING_OPTIONS, LoweringOptions
from kerasbert.layers.norms import MOBILEBERT_EPSILON
from kerasbert.layers.quantization.activation_quantizers import activation_quantizer
from kerasbert.layers.quantization.dense import make_dense
from kerasbert.layers.quantization.policy import QuantizationPolicy


class TrigramEmbeddings(Embeddings):
    """A narrow word table, three neighbouring tokens side by side, a Dense layer to the hidden size (Sun et al. 2020, section 4)."""

    def __init__(
        self, config, policy: QuantizationPolicy | None, path: str = "embeddings", *, trigram: bool, norm: str
    ):
        super().__init__(config, policy, path, word_width=config.embedding_size, norm=norm, epsilon=MOBILEBERT_EPSILON)
        self.trigram = trigram
        self.transformation = None
        if trigram or config.embedding_size != config.hidden_size:
            self.transformation_quantizer = activation_quantizer(policy, f"{path}.transformation.input")
            self.transformation = make_dense(
                config.hidden_size, self.transformation_quantizer, policy, f"{path}.transformation",
                initializer=truncated_normal(config), prevent_bias_folding=True,
            )  # fmt: skip

    def words(self, input_ids, training=None, layout: LoweringOptions = TRAINING_OPTIONS):
        x = self.word(input_ids, layout=layout)  # (B, S, E)
        if self.trigram:
            following = tf.pad(x[:, 1:], ((0, 0), (0, 1), (0, 0)))
            preceding = tf.pad(x[:, :-1], ((0, 0), (1, 0), (0, 0)))
            x = tf.concat([following, x, preceding], axis=2)  # (B, S, 3 E)
        if self.transformation is None:
            return x
        return self.transformation(self.transformation_quantizer(x, training=training), training=training)  # (B, S, H)
