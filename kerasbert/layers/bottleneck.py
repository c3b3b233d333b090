"""MobileBERT's block: attention and feed-forward networks between two bottlenecks (Sun et al. 2020, figure 1 and section 3)."""

import tf_keras as keras

from kerasbert.layers.adapters import make_adapter
from kerasbert.layers.attention import SelfAttention
from kerasbert.layers.blocks import FeedForward
from kerasbert.layers.dense import Dense
from kerasbert.layers.dropout import Dropout
from kerasbert.layers.graph import TRAINING_LAYOUT, GraphLayout
from kerasbert.layers.initializers import normal
from kerasbert.layers.norms import MOBILEBERT_EPSILON, NoNorm, make_norm
from kerasbert.layers.points import ActivationPoint, QuantizationPolicy


class Bottleneck(keras.layers.Layer):
    """A dense and a norm: (..., in) -> (..., width)."""

    def __init__(self, config, policy: QuantizationPolicy | None, path: str, width: int):
        super().__init__(name=path.replace(".", "_"))
        self.reads = ActivationPoint(policy, f"{path}.input")
        self.norm = make_norm(config.normalization_type, config.layer_norm_eps, f"{path}.norm")
        self.folds = isinstance(self.norm, NoNorm)
        self.dense = Dense(
            width,
            self.reads,
            policy,
            f"{path}.dense",
            initializer=normal(config),
            folded=self.norm if self.folds else None,
            keeps_bias=self.folds,
        )

    def call(self, x, training=None):
        x = self.dense(self.reads(x, training=training), training=training)
        return x if self.folds else self.norm(x)


class ResidualFeedForward(keras.layers.Layer):
    """A feed-forward network with residual and norm: (B, S, W) -> (B, S, W).

    The last one of a block has its own dropout and epsilon, and the block's second adapter.
    """

    def __init__(
        self,
        config,
        policy: QuantizationPolicy | None,
        path: str,
        dropout: float,
        epsilon: float,
        adapter: int | None = None,
    ):
        super().__init__(name=path.replace(".", "_"))
        width = config.true_hidden_size
        self.feed_forward = FeedForward(config, policy, f"{path}.feed_forward", width=width)
        self.adapter = make_adapter(config, policy, f"{path}.adapter", width, adapter)
        self.norm = make_norm(config.normalization_type, epsilon, f"{path}.norm")
        self.dropout = Dropout(dropout)

    def call(self, x, training=None):
        fed = self.dropout(self.feed_forward(x, training=training), training=training)
        if self.adapter is not None:
            fed = self.adapter(fed, training=training)
        return self.norm(x + fed)


class MobileBertBlock(keras.layers.Layer):
    """(B, S, H) -> (B, S, H), attention probabilities; inside, the width is W (`true_hidden_size`).

    With `use_bottleneck` a bottleneck brings H to W and a dense brings it back. Attention then reads, for queries and keys, a second
    bottleneck (`key_query_shared_bottleneck`), the first one (`use_bottleneck_attention`), or the block's input.

    adapters: the size of an adapter of width W behind the attention and one behind the last feed-forward network; None: none.
    """

    def __init__(self, config, policy: QuantizationPolicy | None, path: str, adapters: int | None = None):
        super().__init__(name=path.replace(".", "_"))
        width, norm = config.true_hidden_size, (config.normalization_type, config.layer_norm_eps)
        self.bottleneck = self.shared_bottleneck = self.output_dense = None
        self.attends_in_bottleneck = config.use_bottleneck and config.use_bottleneck_attention
        dropout = 0.0 if config.use_bottleneck else config.hidden_dropout_prob
        if config.use_bottleneck:
            self.bottleneck = Bottleneck(config, policy, f"{path}.bottleneck", width)
            if config.key_query_shared_bottleneck and not self.attends_in_bottleneck:
                self.shared_bottleneck = Bottleneck(config, policy, f"{path}.shared_bottleneck", width)
            self.output_input = ActivationPoint(policy, f"{path}.output.input")
            self.output_dense = Dense(
                config.hidden_size, self.output_input, policy, f"{path}.output", initializer=normal(config)
            )
            self.output_norm = make_norm(*norm, f"{path}.output_norm")
            self.output_dropout = Dropout(config.hidden_dropout_prob)
        separate = self.shared_bottleneck is not None
        self.attention = SelfAttention(config, policy, f"{path}.attention", width=width, separate_values=separate)
        source = self.bottleneck if self.attends_in_bottleneck else self.shared_bottleneck
        if source is not None and source.folds:
            self.attention.reads.follow(source.dense.writes)
        self.attention_adapter = make_adapter(config, policy, f"{path}.attention_adapter", width, adapters)
        self.attention_norm = make_norm(*norm, f"{path}.attention_norm")
        self.attention_dropout = Dropout(dropout)
        settings = [(0.0, config.layer_norm_eps)] * (config.num_feedforward_networks - 1) + [
            (dropout, MOBILEBERT_EPSILON, adapters)
        ]
        self.feed_forwards = [
            ResidualFeedForward(config, policy, f"{path}.feed_forwards.{i}", *setting)
            for i, setting in enumerate(settings)
        ]

    def call(self, x, bias, training=None, layout: GraphLayout = TRAINING_LAYOUT):
        narrow = x if self.bottleneck is None else self.bottleneck(x, training=training)  # (B, S, W)
        source, values = narrow if self.attends_in_bottleneck else x, None
        if self.shared_bottleneck is not None:
            source, values = self.shared_bottleneck(x, training=training), x
        attended, probabilities = self.attention(source, bias, values, training=training, layout=layout)
        attended = self.attention_dropout(attended, training=training)
        if self.attention_adapter is not None:
            attended = self.attention_adapter(attended, training=training)
        y = self.attention_norm(narrow + attended)
        for feed_forward in self.feed_forwards:
            y = feed_forward(y, training=training)
        if self.output_dense is None:
            return y, probabilities
        wide = self.output_dense(self.output_input(y, training=training), training=training)  # (B, S, H)
        return self.output_norm(x + self.output_dropout(wide, training=training)), probabilities
