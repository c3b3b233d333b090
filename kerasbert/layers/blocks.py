"""The feed-forward network and the transformer block."""

import tf_keras as keras

from kerasbert.layers.activations import activation
from kerasbert.layers.adapters import make_adapter
from kerasbert.layers.attention import SelfAttention
from kerasbert.layers.dense import Dense
from kerasbert.layers.dropout import Dropout
from kerasbert.layers.graph import TRAINING_LAYOUT, GraphLayout
from kerasbert.layers.initializers import normal
from kerasbert.layers.norms import LayerNorm
from kerasbert.layers.points import ActivationPoint, QuantizationPolicy


class FeedForward(keras.layers.Layer):
    """Two denses with an activation between: (B, S, H) -> (B, S, I) -> (B, S, W); W is the hidden size if `width` is not given."""

    def __init__(self, config, policy: QuantizationPolicy | None, path: str, width: int | None = None):
        super().__init__(name=path.replace(".", "_"))
        self.reads = ActivationPoint(policy, f"{path}.input")
        self.intermediate = Dense(
            config.intermediate_size,
            self.reads,
            policy,
            f"{path}.intermediate",
            initializer=normal(config),
            activation=activation(config.hidden_act),
        )
        self.hidden = ActivationPoint(policy, f"{path}.hidden")
        self.output_dense = Dense(
            width or config.hidden_size, self.hidden, policy, f"{path}.output_dense", initializer=normal(config)
        )

    def call(self, x, training=None):
        x = self.intermediate(self.reads(x, training=training), training=training)
        return self.output_dense(self.hidden(x, training=training), training=training)


class TransformerBlock(keras.layers.Layer):
    """Attention and feed-forward, each with residual and post-norm: (B, S, H) -> (B, S, H), attention probabilities.

    adapters: the size of an adapter behind each of the two, before the residual; None: none.
    """

    def __init__(self, config, policy: QuantizationPolicy | None, path: str, adapters: int | None = None):
        super().__init__(name=path.replace(".", "_"))
        width = config.hidden_size
        self.attention = SelfAttention(config, policy, f"{path}.attention")
        self.attention_adapter = make_adapter(config, policy, f"{path}.attention_adapter", width, adapters)
        self.attention_norm = LayerNorm(config.layer_norm_eps, f"{path}.attention_norm")
        self.feed_forward = FeedForward(config, policy, f"{path}.feed_forward")
        self.feed_forward_adapter = make_adapter(config, policy, f"{path}.feed_forward_adapter", width, adapters)
        self.feed_forward_norm = LayerNorm(config.layer_norm_eps, f"{path}.feed_forward_norm")
        self.dropout = Dropout(config.hidden_dropout_prob)

    def call(self, x, bias, training=None, layout: GraphLayout = TRAINING_LAYOUT):
        attended, probabilities = self.attention(x, bias, training=training, layout=layout)
        attended = self.dropout(attended, training=training)
        if self.attention_adapter is not None:
            attended = self.attention_adapter(attended, training=training)
        x = self.attention_norm(x + attended)
        fed = self.dropout(self.feed_forward(x, training=training), training=training)
        if self.feed_forward_adapter is not None:
            fed = self.feed_forward_adapter(fed, training=training)
        return self.feed_forward_norm(x + fed), probabilities
