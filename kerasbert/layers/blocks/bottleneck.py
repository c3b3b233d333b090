"""MobileBERT's block: attention and feed-forward networks between two bottlenecks (Sun et al. 2020, figure 1 and section 3)."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import tensorflow as tf
import tf_keras as keras

from kerasbert.files.record import setting
from kerasbert.layers.blocks.transformer_block import FeedForward, SelfAttention, add_residual
from kerasbert.layers.config import EncoderConfig
from kerasbert.layers.dropout import Dropout
from kerasbert.layers.no_norm import NoNorm
from kerasbert.layers.norms import Norm
from kerasbert.layers.quantization.activation_quantizers import ActivationFakeQuant
from kerasbert.layers.quantization.edges import Edges, Part, Residual, residuals
from kerasbert.layers.quantization.factory import LayerFactory
from kerasbert.layers.quantization.norms import NORMS

# transformers gives two of these LayerNorms the default epsilon of PyTorch: that of the embeddings and the one after the last feed-forward
# network. Google's code has 1e-12 throughout. Published checkpoints use NoNorm, which has none.
MOBILEBERT_EPSILON = 1e-5


@dataclass(frozen=True)
class BottleneckConfig(EncoderConfig):
    """Sizes and switches of blocks between bottlenecks. The defaults are those of the published MobileBERT."""

    use_bottleneck: bool = True
    intra_bottleneck_size: int = setting(128, at_least=1)
    use_bottleneck_attention: bool = False
    key_query_shared_bottleneck: bool = True
    num_feedforward_networks: int = setting(4, at_least=1)
    normalization_type: str = setting("no_norm", choices=list(NORMS))

    @property
    def true_hidden_size(self) -> int:
        """Width between the bottlenecks."""
        return self.intra_bottleneck_size if self.use_bottleneck else self.hidden_size

    @property
    def head_width(self) -> int:
        return self.true_hidden_size


class Bottleneck(keras.layers.Layer):
    """A Dense layer and a norm: (..., in) -> (..., width). A NoNorm is folded into the Dense layer."""

    def __init__(self, config: BottleneckConfig, make: LayerFactory, width: int):
        super().__init__(name=make.name)
        self.input_quantizer = make.quantizer("input")
        self.folds = config.normalization_type == "no_norm"
        if self.folds:
            self.norm = LayerFactory(config, None, make.path).norm("norm", "no_norm")
        else:
            self.norm = make.norm("norm", config.normalization_type)
        folded = self.norm if self.folds else None
        self.dense = make.dense("dense", width, self.input_quantizer, folded=folded, prevent_bias_folding=self.folds)

    def writer(self) -> keras.layers.Layer:
        """Return the layer that writes the result."""
        return self.dense if self.folds else self.norm

    def call(self, x: tf.Tensor, training: bool | None = None) -> tf.Tensor:
        x = self.dense(self.input_quantizer(x, training=training), training=training)
        return x if self.folds else self.norm(x, training=training)


class ResidualFeedForward(keras.layers.Layer):
    """A feed-forward network with residual and norm: (B, S, W) -> (B, S, W).

    Args:
        config: the encoder's sizes.
        make: the factory of the layer.
        dropout: the rate of dropout.
        epsilon: of the norm.
        intermediate: inner width of a pruned network, by default the config's.
    """

    def __init__(
        self, config: BottleneckConfig, make: LayerFactory, dropout: float, epsilon: float, intermediate: int | None
    ):
        super().__init__(name=make.name)
        self.feed_forward = FeedForward(make.at("feed_forward"), config.true_hidden_size, intermediate)
        self.adapter: keras.layers.Layer | None = None  # set by `insert_adapters`
        self.norm = make.norm("norm", config.normalization_type, epsilon)
        self.sum = make.quantizer("stream", integer_only=True, residual=True)
        self.dropout = Dropout(dropout)

    def part(self) -> Part:
        """Return the network as a part of a block."""
        network = self.feed_forward
        return Part((network.input_quantizer,), network.output_dense, self.sum, self.norm)

    def call(self, x: tf.Tensor, training: bool | None = None) -> tf.Tensor:
        fed = self.feed_forward(x, training=training)
        return self.norm(add_residual(x, fed, self.sum, self.dropout, self.adapter, training), training=training)


class MobileBertBlock(keras.layers.Layer):
    """MobileBERT's block: (B, S, H), bias (B, 1, 1, S) -> (B, S, H), probabilities (B, N, S, S). The inner width is W.

    With `use_bottleneck` a bottleneck takes H to W and a Dense layer takes it back. Queries and keys come from a second bottleneck
    (`key_query_shared_bottleneck`), from the first one (`use_bottleneck_attention`), or from the block's input.

    Args:
        make: the factory of the layer.
        heads: number of heads of a pruned block, by default the config's.
        intermediate: inner widths of the feed-forward networks of a pruned block, by default the config's.
        head_size: the channels of a head of a pruned block, by default the config's.
    """

    def __init__(
        self,
        make: LayerFactory,
        heads: int | None = None,
        intermediate: Sequence[int] = (),
        head_size: int | None = None,
    ):
        super().__init__(name=make.name)
        config: Any = make.config
        self._make_bottlenecks(config, make)
        self.attention = SelfAttention(
            make.at("attention"),
            width=config.true_hidden_size, separate_values=self.shared_bottleneck is not None, heads=heads,
            head_size=head_size,
        )  # fmt: skip
        self.attention_adapter: keras.layers.Layer | None = None  # set by `insert_adapters`
        self.attention_norm = make.norm("attention_norm", config.normalization_type)
        self.attention_sum = make.quantizer("attention_stream", integer_only=True, residual=True)
        dropout = 0.0 if config.use_bottleneck else config.hidden_dropout_prob
        self.attention_dropout = Dropout(dropout)
        last = config.num_feedforward_networks - 1
        self.feed_forwards = [
            ResidualFeedForward(
                config, make.at(f"feed_forwards.{i}"),
                dropout=dropout if i == last else 0.0, epsilon=MOBILEBERT_EPSILON if i == last else config.layer_norm_eps,
                intermediate=intermediate[i] if intermediate else None,
            )
            for i in range(last + 1)
        ]  # fmt: skip

    def _make_bottlenecks(self, config: BottleneckConfig, make: LayerFactory) -> None:
        self.bottleneck = self.shared_bottleneck = self.output_dense = None
        self.attends_in_bottleneck = config.use_bottleneck and config.use_bottleneck_attention
        if not config.use_bottleneck:
            return
        width = config.true_hidden_size
        self.bottleneck = Bottleneck(config, make.at("bottleneck"), width)
        if config.key_query_shared_bottleneck and not self.attends_in_bottleneck:
            self.shared_bottleneck = Bottleneck(config, make.at("shared_bottleneck"), width)
        self.output_input = make.quantizer("output.input")
        self.output_dense = make.dense("output", config.hidden_size, self.output_input)
        self.output_norm = make.norm("output_norm", config.normalization_type)
        self.output_sum = make.quantizer("output_stream", integer_only=True, residual=True)
        self.output_dropout = Dropout(config.hidden_dropout_prob)

    @property
    def attended_bottleneck(self) -> Bottleneck | None:
        """The bottleneck before queries and keys, or None if they are computed from the block's input."""
        return self.bottleneck if self.attends_in_bottleneck else self.shared_bottleneck

    def call(self, x: tf.Tensor, bias: tf.Tensor, training: bool | None = None) -> tuple[tf.Tensor, tf.Tensor]:
        narrow = x if self.bottleneck is None else self.bottleneck(x, training=training)  # (B, S, W)
        source, values = narrow if self.attends_in_bottleneck else x, None
        if self.shared_bottleneck is not None:
            source, values = self.shared_bottleneck(x, training=training), x  # (B, S, W), (B, S, H)
        y, probabilities = self.attention(source, bias, values, training=training)  # (B, S, W), (B, N, S, S)
        y = add_residual(narrow, y, self.attention_sum, self.attention_dropout, self.attention_adapter, training)
        y = self.attention_norm(y, training=training)  # (B, S, W)
        for feed_forward in self.feed_forwards:
            y = feed_forward(y, training=training)  # (B, S, W)
        if self.output_dense is None:
            return y, probabilities
        wide = self.output_dense(self.output_input(y, training=training), training=training)  # (B, S, H)
        wide = add_residual(x, wide, self.output_sum, self.output_dropout, None, training)
        return self.output_norm(wide, training=training), probabilities

    def adapter_slots(self) -> dict[str, keras.layers.Layer]:
        """Return the layers that hold an adapter each, by the path of the attribute in this block."""
        return {
            "attention_adapter": self,
            f"feed_forwards.{len(self.feed_forwards) - 1}.adapter": self.feed_forwards[-1],
        }

    def input_sum(self) -> ActivationFakeQuant:
        """Return the residual sum that the block's input is added to, and whose scales it carries."""
        return self.attention_sum if self.output_dense is None else self.output_sum

    def edges(self, before: Norm | None) -> Edges:
        """Declare the tensors that this block shares with others, see `transformer_edges`."""
        attention, attended, outer = self.attention, self.attended_bottleneck, self.input_sum()
        # What reads the block's input, and what reads the output of each norm.
        inputs = [each.input_quantizer for each in (self.bottleneck, self.shared_bottleneck) if each is not None]
        inputs += [attention.input_quantizer] if attended is None else []
        inputs += [] if attention.value_quantizer is None else [attention.value_quantizer]
        readers = [] if attended is not self.bottleneck else [attention.input_quantizer]
        parts = [Part(readers, attention.output_dense, self.attention_sum, self.attention_norm)]
        parts += [network.part() for network in self.feed_forwards]
        ties = [] if attended is None else [(attention.input_quantizer, attended.writer())]
        ties += [(part.readers[0], previous.norm) for previous, part in pairwise(parts)]
        ties += [tie for network in self.feed_forwards for tie in network.feed_forward.ties()]
        # A NoNorm takes no mean off, so nothing is centered. Under a LayerNorm the sums stay as they are.
        scaled = [Residual(attention.context, (attention.value,), like=outer)]
        last, entry = parts[-1].norm, before
        if self.bottleneck is None:
            parts[0] = parts[0]._replace(readers=inputs)
        else:  # sums around the block, between its bottlenecks, and from block to block
            entry = self.bottleneck.dense
            scaled += [
                Residual(outer, (before, self.output_dense), inputs, self.output_norm),
                Residual(self.output_input, (last,), like=outer),
            ]
            ties.append((self.output_input, last))
            last = self.output_norm
        scaled += residuals(entry, parts)
        return Edges(inputs, last, ties, scaled if before is not None and isinstance(last, NoNorm) else ())
