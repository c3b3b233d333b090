"""The transformer block."""

from collections.abc import Sequence

import tf_keras as keras

from kerasbert.layers.attention import SelfAttention
from kerasbert.layers.dropout import Dropout
from kerasbert.layers.feed_forward import FeedForward
from kerasbert.layers.lowering.options import TRAINING_OPTIONS, LoweringOptions
from kerasbert.layers.quantization.activation_quantizers import activation_quantizer
from kerasbert.layers.quantization.norms import make_norm
from kerasbert.layers.quantization.policy import QuantizationPolicy, integer_part


class TransformerBlock(keras.layers.Layer):
    """Post-norm transformer block (Devlin et al. 2018): (B, S, H), bias (B, 1, 1, S) -> (B, S, H), probabilities (B, N, S, S).

    heads, intermediate: sizes of a pruned block, where these are not the config's. The adapters are None, or set by `insert_adapters`.
    """

    def __init__(
        self,
        config,
        policy: QuantizationPolicy | None,
        path: str,
        heads: int | None = None,
        intermediate: Sequence[int | None] = (None,),
    ):
        super().__init__(name=path.replace(".", "_"))
        self.attention = SelfAttention(config, policy, f"{path}.attention", heads=heads)
        self.attention_adapter = None
        self.attention_sum = activation_quantizer(integer_part(policy), f"{path}.attention_stream", residual=True)
        self.attention_norm = make_norm("layer_norm", config.layer_norm_eps, f"{path}.attention_norm", policy)
        self.feed_forward = FeedForward(config, policy, f"{path}.feed_forward", intermediate=intermediate[0])
        self.feed_forward_adapter = None
        self.feed_forward_sum = activation_quantizer(integer_part(policy), f"{path}.feed_forward_stream", residual=True)
        self.feed_forward_norm = make_norm("layer_norm", config.layer_norm_eps, f"{path}.feed_forward_norm", policy)
        self.dropout = Dropout(config.hidden_dropout_prob)

    def call(self, x, bias, training=None, layout: LoweringOptions = TRAINING_OPTIONS):
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
