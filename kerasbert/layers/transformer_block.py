"""The transformer block and its feed-forward network."""

from collections.abc import Sequence

import tensorflow as tf
import tf_keras as keras

from kerasbert.layers.attention import SelfAttention
from kerasbert.layers.config import EncoderConfig
from kerasbert.layers.dense import truncated_normal
from kerasbert.layers.dropout import Dropout
from kerasbert.layers.lowering.options import TRAINING_OPTIONS, LoweringOptions
from kerasbert.layers.quantization.activation_quantizers import activation_quantizer
from kerasbert.layers.quantization.dense import make_dense
from kerasbert.layers.quantization.norms import make_norm
from kerasbert.layers.quantization.policy import QuantizationPolicy, integer_part


class FeedForward(keras.layers.Layer):
    """Two Dense layers with an activation between: (B, S, W) -> (B, S, I) -> (B, S, W).

    Args:
        config: the encoder's sizes.
        policy: the quantization policy, or None for float.
        path: the name of the layer for policies.
        width: W, by default the hidden size.
        intermediate: I of a pruned layer, by default the config's.
    """

    def __init__(
        self, config: EncoderConfig, policy: QuantizationPolicy | None, path: str,
        width: int | None = None, intermediate: int | None = None,
    ):  # fmt: skip
        super().__init__(name=path.replace(".", "_"))
        self.input_quantizer = activation_quantizer(policy, f"{path}.input")
        self.intermediate = make_dense(
            intermediate or config.intermediate_size, self.input_quantizer, policy, f"{path}.intermediate",
            initializer=truncated_normal(config), activation=config.activation,
        )  # fmt: skip
        self.hidden = activation_quantizer(policy, f"{path}.hidden")
        self.output_dense = make_dense(
            width or config.hidden_size, self.hidden, policy, f"{path}.output_dense", initializer=truncated_normal(config)
        )  # fmt: skip

    def call(self, x: tf.Tensor, training: bool | None = None) -> tf.Tensor:
        x = self.intermediate(self.input_quantizer(x, training=training), training=training)  # (B, S, I)
        return self.output_dense(self.hidden(x, training=training), training=training)  # (B, S, W)


class TransformerBlock(keras.layers.Layer):
    """Post-norm transformer block (Devlin et al. 2018): (B, S, H), bias (B, 1, 1, S) -> (B, S, H), probabilities (B, N, S, S).

    Args:
        config: the encoder's sizes.
        policy: the quantization policy, or None for float.
        path: the name of the block for policies.
        heads: number of heads of a pruned block, by default the config's.
        intermediate: width of the feed-forward network of a pruned block, by default the config's.
    """

    def __init__(
        self, config: EncoderConfig, policy: QuantizationPolicy | None, path: str,
        heads: int | None = None, intermediate: Sequence[int | None] = (None,),
    ):  # fmt: skip
        super().__init__(name=path.replace(".", "_"))
        self.attention = SelfAttention(config, policy, f"{path}.attention", heads=heads)
        self.attention_adapter: keras.layers.Layer | None = None  # set by `insert_adapters`, like the other one
        self.attention_sum = activation_quantizer(integer_part(policy), f"{path}.attention_stream", residual=True)
        self.attention_norm = make_norm("layer_norm", config.layer_norm_eps, f"{path}.attention_norm", policy)
        self.feed_forward = FeedForward(config, policy, f"{path}.feed_forward", intermediate=intermediate[0])
        self.feed_forward_adapter: keras.layers.Layer | None = None
        self.feed_forward_sum = activation_quantizer(integer_part(policy), f"{path}.feed_forward_stream", residual=True)
        self.feed_forward_norm = make_norm("layer_norm", config.layer_norm_eps, f"{path}.feed_forward_norm", policy)
        self.dropout = Dropout(config.hidden_dropout_prob)

    def call(
        self, x: tf.Tensor, bias: tf.Tensor, training: bool | None = None, layout: LoweringOptions = TRAINING_OPTIONS
    ) -> tuple[tf.Tensor, tf.Tensor]:
        attended, probabilities = self.attention(x, bias, training=training, layout=layout)  # (B, S, H), (B, N, S, S)
        attended = self.dropout(attended, training=training)
        if self.attention_adapter is not None:
            attended = self.attention_adapter(attended, training=training)
        x = self.attention_sum(x + attended, training=training)
        x = self.attention_norm(x, training=training, layout=layout)  # (B, S, H)
        fed = self.dropout(self.feed_forward(x, training=training), training=training)  # (B, S, I) -> (B, S, H)
        if self.feed_forward_adapter is not None:
            fed = self.feed_forward_adapter(fed, training=training)
        x = self.feed_forward_sum(x + fed, training=training)
        return self.feed_forward_norm(x, training=training, layout=layout), probabilities
