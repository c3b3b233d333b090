"""MobileBERT's block: attention and feed-forward networks between two bottlenecks (Sun et al. 2020, figure 1 and section 3)."""

from collections.abc import Sequence

import tf_keras as keras

from kerasbert.layers.adapters import make_adapter
from kerasbert.layers.attention import SelfAttention
from kerasbert.layers.dense import Dense
from kerasbert.layers.dropout import Dropout
from kerasbert.layers.initializers import normal
from kerasbert.layers.lowering.options import TRAINING_LAYOUT, GraphLayout
from kerasbert.layers.norms import MOBILEBERT_EPSILON, Norm, make_norm
from kerasbert.layers.quantization.policy import QuantizationPolicy, integer_part
from kerasbert.layers.quantization.quantizers import ActivationPoint
from kerasbert.layers.transformer_block import FeedForward


class Bottleneck(keras.layers.Layer):
    """A dense and a norm: (..., in) -> (..., width)."""

    def __init__(self, config, policy: QuantizationPolicy | None, path: str, width: int):
        super().__init__(name=path.replace(".", "_"))
        self.reads = ActivationPoint(policy, f"{path}.input")
        self.folds = config.normalization_type == "no_norm"
        norm_policy = None if self.folds else policy
        self.norm = make_norm(config.normalization_type, config.layer_norm_eps, f"{path}.norm", norm_policy)
        self.dense = Dense(
            width,
            self.reads,
            policy,
            f"{path}.dense",
            initializer=normal(config),
            folded=self.norm if self.folds else None,
            keeps_bias=self.folds,
        )

    @property
    def written(self) -> ActivationPoint:
        """The point of what it gives."""
        return self.dense.writes if self.folds else self.norm.output_point

    def call(self, x, training=None, layout: GraphLayout = TRAINING_LAYOUT):
        x = self.dense(self.reads(x, training=training), training=training)
        return x if self.folds else self.norm(x, training=training, layout=layout)


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
        intermediate: int | None = None,
    ):
        super().__init__(name=path.replace(".", "_"))
        width = config.true_hidden_size
        self.feed_forward = FeedForward(config, policy, f"{path}.feed_forward", width, intermediate)
        self.adapter = make_adapter(config, policy, f"{path}.adapter", width, adapter)
        self.norm = make_norm(config.normalization_type, epsilon, f"{path}.norm", policy)
        self.sum = ActivationPoint(integer_part(policy), f"{path}.sum")
        self.dropout = Dropout(dropout)

    def call(self, x, training=None, layout: GraphLayout = TRAINING_LAYOUT):
        fed = self.dropout(self.feed_forward(x, training=training), training=training)
        if self.adapter is not None:
            fed = self.adapter(fed, training=training)
        return self.norm(self.sum(x + fed, training=training), training=training, layout=layout)


class MobileBertBlock(keras.layers.Layer):
    """(B, S, H) -> (B, S, H), attention probabilities; inside, the width is W (`true_hidden_size`).

    With `use_bottleneck` a bottleneck brings H to W and a dense brings it back. Attention then reads, for queries and keys, a second
    bottleneck (`key_query_shared_bottleneck`), the first one (`use_bottleneck_attention`), or the block's input.

    adapters: the size of an adapter of width W behind the attention and one behind the last feed-forward network; None: none.
    heads, intermediate: how many heads there are, and the width of each feed-forward network, where these are not the config's.
    """

    def __init__(
        self,
        config,
        policy: QuantizationPolicy | None,
        path: str,
        adapters: int | None = None,
        heads: int | None = None,
        intermediate: Sequence[int] | None = None,
    ):
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
            self.output_norm = make_norm(*norm, f"{path}.output_norm", policy)
            self.output_sum = ActivationPoint(integer_part(policy), f"{path}.output_sum")
            self.output_dropout = Dropout(config.hidden_dropout_prob)
        separate = self.shared_bottleneck is not None
        self.attention = SelfAttention(
            config, policy, f"{path}.attention", width=width, separate_values=separate, heads=heads
        )
        self._attended = self.bottleneck if self.attends_in_bottleneck else self.shared_bottleneck
        if self._attended is not None:
            self.attention.reads.follow(self._attended.written)
        self.attention_adapter = make_adapter(config, policy, f"{path}.attention_adapter", width, adapters)
        self.attention_norm = make_norm(*norm, f"{path}.attention_norm", policy)
        self.attention_sum = ActivationPoint(integer_part(policy), f"{path}.attention_sum")
        self.attention_dropout = Dropout(dropout)
        settings = [(0.0, config.layer_norm_eps)] * (config.num_feedforward_networks - 1) + [
            (dropout, MOBILEBERT_EPSILON, adapters)
        ]
        self.feed_forwards = [
            ResidualFeedForward(
                config,
                policy,
                f"{path}.feed_forwards.{i}",
                *setting,
                intermediate=intermediate[i] if intermediate else None,
            )
            for i, setting in enumerate(settings)
        ]
        norms = [self.attention_norm, *(feed_forward.norm for feed_forward in self.feed_forwards)]
        readers = [feed_forward.feed_forward.reads for feed_forward in self.feed_forwards]
        for reads, norm in zip(
            [*readers, *([self.output_input] if config.use_bottleneck else [])], norms, strict=False
        ):
            reads.follow(norm.output_point)

    @property
    def written(self) -> ActivationPoint:
        """The point of what it gives."""
        return self.written_by.output_point

    @property
    def written_by(self) -> Norm:
        """What writes what it gives."""
        return self.feed_forwards[-1].norm if self.output_dense is None else self.output_norm

    def come_after(self, point: ActivationPoint, of: int = 0) -> None:
        """Says what comes in: what `point` gives in its call `of`."""
        bottlenecks = [bottleneck for bottleneck in (self.bottleneck, self.shared_bottleneck) if bottleneck is not None]
        readers = [bottleneck.reads for bottleneck in bottlenecks]
        readers += [self.attention.reads] if self._attended is None else []
        readers += [self.attention.value_reads] if self.attention.value_reads is not None else []
        for reads in readers:
            reads.follow(point, of=of)

    def receive(self, norm: Norm) -> None:
        """Nothing is scaled here: what NoNorm writes has no outlier channels to speak of."""

    def unscaled(self, x):
        """What comes in, as a float model has it."""
        return x

    def call(self, x, bias, training=None, layout: GraphLayout = TRAINING_LAYOUT):
        steps = {"training": training, "layout": layout}
        narrow = x if self.bottleneck is None else self.bottleneck(x, **steps)  # (B, S, W)
        source, values = narrow if self.attends_in_bottleneck else x, None
        if self.shared_bottleneck is not None:
            source, values = self.shared_bottleneck(x, **steps), x
        attended, probabilities = self.attention(source, bias, values, **steps)
        attended = self.attention_dropout(attended, training=training)
        if self.attention_adapter is not None:
            attended = self.attention_adapter(attended, training=training)
        y = self.attention_norm(self.attention_sum(narrow + attended, training=training), **steps)
        for feed_forward in self.feed_forwards:
            y = feed_forward(y, **steps)
        if self.output_dense is None:
            return y, probabilities
        wide = self.output_dense(self.output_input(y, training=training), training=training)  # (B, S, H)
        wide = self.output_sum(x + self.output_dropout(wide, training=training), training=training)
        return self.output_norm(wide, **steps), probabilities
