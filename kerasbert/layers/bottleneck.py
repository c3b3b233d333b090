"""MobileBERT's block: attention and feed-forward networks between two bottlenecks (Sun et al. 2020, figure 1 and section 3)."""

from collections.abc import Sequence

import tf_keras as keras

from kerasbert.layers.attention import SelfAttention
from kerasbert.layers.dense import truncated_normal
from kerasbert.layers.dropout import Dropout
from kerasbert.layers.feed_forward import FeedForward
from kerasbert.layers.lowering.options import TRAINING_OPTIONS, LoweringOptions
from kerasbert.layers.norms import MOBILEBERT_EPSILON
from kerasbert.layers.quantization.activation_quantizers import activation_quantizer
from kerasbert.layers.quantization.dense import make_dense
from kerasbert.layers.quantization.norms import make_norm
from kerasbert.layers.quantization.policy import QuantizationPolicy, integer_part


class Bottleneck(keras.layers.Layer):
    """A Dense layer and a norm: (..., in) -> (..., width). A NoNorm is folded into the Dense layer."""

    def __init__(self, config, policy: QuantizationPolicy | None, path: str, width: int):
        super().__init__(name=path.replace(".", "_"))
        self.input_quantizer = activation_quantizer(policy, f"{path}.input")
        self.folds = config.normalization_type == "no_norm"
        norm_policy = None if self.folds else policy
        self.norm = make_norm(config.normalization_type, config.layer_norm_eps, f"{path}.norm", norm_policy)
        self.dense = make_dense(
            width, self.input_quantizer, policy, f"{path}.dense", initializer=truncated_normal(config),
            folded=self.norm if self.folds else None, prevent_bias_folding=self.folds,
        )  # fmt: skip

    def call(self, x, training=None, layout: LoweringOptions = TRAINING_OPTIONS):
        x = self.dense(self.input_quantizer(x, training=training), training=training)
        return x if self.folds else self.norm(x, training=training, layout=layout)


class ResidualFeedForward(keras.layers.Layer):
    """A feed-forward network with residual and norm: (B, S, W) -> (B, S, W). adapter: None, or set by `insert_adapters`."""

    def __init__(
        self,
        config,
        policy: QuantizationPolicy | None,
        path: str,
        dropout: float,
        epsilon: float,
        intermediate: int | None = None,
    ):
        super().__init__(name=path.replace(".", "_"))
        width = config.true_hidden_size
        self.feed_forward = FeedForward(config, policy, f"{path}.feed_forward", width, intermediate)
        self.adapter = None
        self.norm = make_norm(config.normalization_type, epsilon, f"{path}.norm", policy)
        self.sum = activation_quantizer(integer_part(policy), f"{path}.sum")
        self.dropout = Dropout(dropout)

    def call(self, x, training=None, layout: LoweringOptions = TRAINING_OPTIONS):
        fed = self.dropout(self.feed_forward(x, training=training), training=training)
        if self.adapter is not None:
            fed = self.adapter(fed, training=training)
        return self.norm(self.sum(x + fed, training=training), training=training, layout=layout)


class MobileBertBlock(keras.layers.Layer):
    """(B, S, H) -> (B, S, H), attention probabilities; inside, the width is W (`true_hidden_size`).

    With `use_bottleneck` a bottleneck brings H to W and a Dense layer brings it back. Attention then reads, for queries and keys, a second
    bottleneck (`key_query_shared_bottleneck`), the first one (`use_bottleneck_attention`), or the block's input.

    heads, intermediate: sizes of a pruned block, where these are not the config's. The adapter is None, or set by `insert_adapters`.
    """

    def __init__(
        self,
        config,
        policy: QuantizationPolicy | None,
        path: str,
        heads: int | None = None,
        intermediate: Sequence[int] | None = None,
    ):
        super().__init__(name=path.replace(".", "_"))
        width, integer = config.true_hidden_size, integer_part(policy)

        def norm(name: str):
            return make_norm(config.normalization_type, config.layer_norm_eps, f"{path}.{name}", policy)

        self.bottleneck = self.shared_bottleneck = self.output_dense = None
        self.attends_in_bottleneck = config.use_bottleneck and config.use_bottleneck_attention
        dropout = 0.0 if config.use_bottleneck else config.hidden_dropout_prob
        if config.use_bottleneck:
            self.bottleneck = Bottleneck(config, policy, f"{path}.bottleneck", width)
            if config.key_query_shared_bottleneck and not self.attends_in_bottleneck:
                self.shared_bottleneck = Bottleneck(config, policy, f"{path}.shared_bottleneck", width)
            self.output_input = activation_quantizer(policy, f"{path}.output.input")
            self.output_dense = make_dense(
                config.hidden_size, self.output_input, policy, f"{path}.output", initializer=truncated_normal(config)
            )
            self.output_norm = norm("output_norm")
            self.output_sum = activation_quantizer(integer, f"{path}.output_sum")
            self.output_dropout = Dropout(config.hidden_dropout_prob)
        separate = self.shared_bottleneck is not None
        self.attention = SelfAttention(
            config, policy, f"{path}.attention", width=width, separate_values=separate, heads=heads
        )
        self.attention_adapter = None
        self.attention_norm = norm("attention_norm")
        self.attention_sum = activation_quantizer(integer, f"{path}.attention_sum")
        self.attention_dropout = Dropout(dropout)
        last = config.num_feedforward_networks - 1
        self.feed_forwards = [
            ResidualFeedForward(
                config, policy, f"{path}.feed_forwards.{i}",
                dropout=dropout if i == last else 0.0, epsilon=MOBILEBERT_EPSILON if i == last else config.layer_norm_eps,
                intermediate=intermediate[i] if intermediate else None,
            )
            for i in range(last + 1)
        ]  # fmt: skip

    @property
    def attended_bottleneck(self) -> Bottleneck | None:
        """The bottleneck that gives queries and keys; None: they are of the block's input."""
        return self.bottleneck if self.attends_in_bottleneck else self.shared_bottleneck

    def call(self, x, bias, training=None, layout: LoweringOptions = TRAINING_OPTIONS):
        steps = {"training": training, "layout": layout}
        narrow = x if self.bottleneck is None else self.bottleneck(x, **steps)  # (B, S, W)
        source, values = narrow if self.attends_in_bottleneck else x, None
        if self.shared_bottleneck is not None:
            source, values = self.shared_bottleneck(x, **steps), x  # (B, S, W), (B, S, H)
        attended, probabilities = self.attention(source, bias, values, **steps)  # (B, S, W), (B, N, S, S)
        attended = self.attention_dropout(attended, training=training)
        if self.attention_adapter is not None:
            attended = self.attention_adapter(attended, training=training)
        y = self.attention_norm(self.attention_sum(narrow + attended, training=training), **steps)  # (B, S, W)
        for feed_forward in self.feed_forwards:
            y = feed_forward(y, **steps)  # (B, S, W)
        if self.output_dense is None:
            return y, probabilities
        wide = self.output_dense(self.output_input(y, training=training), training=training)  # (B, S, H)
        wide = self.output_sum(x + self.output_dropout(wide, training=training), training=training)
        return self.output_norm(wide, **steps), probabilities
