"""The feed-forward network and the transformer block."""

from collections.abc import Sequence

import tensorflow as tf
import tf_keras as keras

from kerasbert.layers.activations import activation
from kerasbert.layers.adapters import make_adapter
from kerasbert.layers.attention import SelfAttention
from kerasbert.layers.dense import Dense
from kerasbert.layers.dropout import Dropout
from kerasbert.layers.initializers import normal
from kerasbert.layers.lowering.options import TRAINING_LAYOUT, GraphLayout
from kerasbert.layers.norms import LayerNorm, Norm
from kerasbert.layers.quantization.policy import QuantizationPolicy, integer_part
from kerasbert.layers.quantization.quantizers import ActivationPoint, channels


class FeedForward(keras.layers.Layer):
    """Two denses with an activation between: (B, S, H) -> (B, S, I) -> (B, S, W).

    width: W, by default the config's hidden size. intermediate: I, by default the config's.
    """

    def __init__(
        self,
        config,
        policy: QuantizationPolicy | None,
        path: str,
        width: int | None = None,
        intermediate: int | None = None,
    ):
        super().__init__(name=path.replace(".", "_"))
        self.reads = ActivationPoint(policy, f"{path}.input")
        self.intermediate = Dense(
            intermediate or config.intermediate_size,
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
    heads, intermediate: how many heads there are, and the width of the feed-forward network, where these are not the config's.
    """

    def __init__(
        self,
        config,
        policy: QuantizationPolicy | None,
        path: str,
        adapters: int | None = None,
        heads: int | None = None,
        intermediate: Sequence[int | None] = (None,),
    ):
        super().__init__(name=path.replace(".", "_"))
        width, integer = config.hidden_size, integer_part(policy)
        self.attention = SelfAttention(config, policy, f"{path}.attention", heads=heads)
        self.attention_adapter = make_adapter(config, policy, f"{path}.attention_adapter", width, adapters)
        self.attention_norm = LayerNorm(config.layer_norm_eps, f"{path}.attention_norm", policy)
        self.feed_forward = FeedForward(config, policy, f"{path}.feed_forward", intermediate=intermediate[0])
        self.feed_forward_adapter = make_adapter(config, policy, f"{path}.feed_forward_adapter", width, adapters)
        self.feed_forward_norm = LayerNorm(config.layer_norm_eps, f"{path}.feed_forward_norm", policy)
        self.dropout = Dropout(config.hidden_dropout_prob)
        self.feed_forward.reads.follow(self.attention_norm.output_point)
        # The sums, and what is added to them: in 8 bits few channels would take their range.
        self.stream = ActivationPoint(integer, f"{path}.attention_stream", stream=True)
        self.inner_stream = ActivationPoint(integer, f"{path}.feed_forward_stream", stream=True)
        self._scalable, self.stream.equalized = self.stream.equalized, False
        self.attention.reads.scaled_like(self.stream)
        self.attention.output_dense.writes_to = self.stream
        self.attention_norm.writes = self.inner_stream
        self.feed_forward.reads.scaled_like(self.inner_stream)
        self.feed_forward.output_dense.writes_to = self.inner_stream
        self.feed_forward_norm.read(self.inner_stream)
        if integer is not None:
            self.inner_stream.centre(lambda: tf.reduce_mean(self.attention_norm.beta))

    @property
    def written_by(self) -> Norm:
        """What writes what it gives."""
        return self.feed_forward_norm

    @property
    def written(self) -> ActivationPoint:
        """The point of what it gives."""
        return self.feed_forward_norm.output_point

    def come_after(self, point: ActivationPoint, of: int = 0) -> None:
        """Says what comes in, in the call whose turn it is: what `point` gives in its call `of`."""
        self.attention.reads.follow(point, self.attention.reads.turn, of)

    def receive(self, norm: Norm) -> None:
        """Says which norm writes what comes in, for this block alone: the two agree on how its channels are scaled."""
        if norm.policy is None:
            return
        self.stream.equalized = self._scalable
        self.stream.centre(lambda: tf.reduce_mean(norm.beta))
        norm.writes = self.stream
        self.attention_norm.read(self.stream)

    def unscaled(self, x):
        """What comes in, as a float model has it."""
        return x if self.stream.factors is None else x / channels(self.stream.factors, x)

    def call(self, x, bias, training=None, layout: GraphLayout = TRAINING_LAYOUT):
        attended, probabilities = self.attention(x, bias, training=training, layout=layout)
        attended = self.dropout(attended, training=training)
        if self.attention_adapter is not None:
            attended = self.attention_adapter(attended, training=training)
        x = self.stream(x + attended, training=training)
        x = self.attention_norm(x, training=training, layout=layout)
        fed = self.dropout(self.feed_forward(x, training=training), training=training)
        if self.feed_forward_adapter is not None:
            fed = self.feed_forward_adapter(fed, training=training)
        x = self.inner_stream(x + fed, training=training)
        return self.feed_forward_norm(x, training=training, layout=layout), probabilities
